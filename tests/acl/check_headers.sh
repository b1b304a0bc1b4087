#!/bin/sh
# check_headers.sh C_COMPILER CXX_COMPILER: every ACL header compiles alone, without a warning, as C11
# and as C++11 and newer.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 C_COMPILER CXX_COMPILER" >&2
    exit 2
fi
api=$(cd "$(dirname "$0")/../../api" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
count=0
for header in "$api"/acl/*.h; do
    name=acl/$(basename "$header")
    echo "#include \"$name\"" >"$work/one.c"
    echo "#include <$name>" >"$work/one.cpp"
    "$1" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Werror \
        -I"$api" -fsyntax-only "$work/one.c" || { echo "$name: not clean in C11"; failed=1; }
    for standard in 11 17 20; do
        "$2" -std=c++$standard -Wall -Wextra -pedantic -Wconversion -Wshadow -Werror \
            -I"$api" -fsyntax-only "$work/one.cpp" ||
            { echo "$name: not clean in C++$standard"; failed=1; }
    done
    count=$((count + 1))
done
[ $failed -ne 0 ] || echo "$count headers are clean"
exit $failed
