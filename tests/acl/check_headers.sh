#!/bin/sh
# check_headers.sh C_COMPILER CXX_COMPILER: every ACL header compiles alone, without a warning, as C11
# and C17, and as C++11 to C++20; with clang as well where it is installed.
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

# check C_COMPILER CXX_COMPILER NAME
check() {
    for standard in 11 17; do
        "$1" -std=c$standard -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
            -Werror -I"$api" -fsyntax-only "$work/one.c" ||
            { echo "$3: not clean in C$standard with $1"; failed=1; }
    done
    for standard in 11 14 17 20; do
        "$2" -std=c++$standard -Wall -Wextra -pedantic -Wconversion -Wshadow -Werror \
            -I"$api" -fsyntax-only "$work/one.cpp" ||
            { echo "$3: not clean in C++$standard with $2"; failed=1; }
    done
}

for header in "$api"/acl/*.h; do
    name=acl/$(basename "$header")
    echo "#include \"$name\"" >"$work/one.c"
    echo "#include <$name>" >"$work/one.cpp"
    check "$1" "$2" "$name"
    if command -v clang >/dev/null && command -v clang++ >/dev/null; then
        check clang clang++ "$name"
    fi
    count=$((count + 1))
done
[ $failed -ne 0 ] || echo "$count headers are clean"
exit $failed
