#!/bin/sh
# check_headers.sh C_COMPILER CXX_COMPILER: the headers of soma/ that are installed compile alone and
# without a warning: tpipe.h as C11 and C++, those of Ascend C as C++17 and newer, also with the
# other of g++ and clang++ when it is there.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 C_COMPILER CXX_COMPILER" >&2
    exit 2
fi
api=$(cd "$(dirname "$0")/../../../api" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

echo '#include "soma/tpipe.h"' >"$work/one.c"
"$1" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Werror \
    -I"$api" -fsyntax-only "$work/one.c" || failed=1
for compiler in "$2" g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for header in tpipe.h ascendc.hpp ascendc_compute.hpp ascendc_half.hpp ascendc_tensor.hpp; do
        echo "#include \"soma/$header\"" >"$work/one.cpp"
        for standard in 17 20; do
            "$compiler" -std=c++$standard -Wall -Wextra -pedantic -Wconversion -Wshadow -Werror \
                -I"$api" -fsyntax-only "$work/one.cpp" ||
                { echo "$header: not clean with $compiler in C++$standard"; failed=1; }
        done
    done
    for source in "$api/../examples/tbufpool_two_stages.cpp" "$(dirname "$0")/ascendc_tests.cpp"; do
        "$compiler" -std=c++17 -Wall -Wextra -pedantic -Werror -I"$api" -fsyntax-only "$source" ||
            { echo "$source: not clean with $compiler"; failed=1; }
    done
done
[ $failed -ne 0 ] || echo "the headers are clean"
exit $failed
