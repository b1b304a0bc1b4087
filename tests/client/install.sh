#!/bin/sh
# install.sh BUILD_DIR CC [CXX]: what is installed is enough for a program, with pkg-config and without
# anything set up: headers, library, and the server that it starts.
set -eu

if [ $# -ne 2 ] && [ $# -ne 3 ]; then
    echo "usage: $0 BUILD_DIR CC [CXX]" >&2
    exit 2
fi
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR= cmake --install "$1" --prefix "$work/soma" >"$work/log" || { cat "$work/log"; exit 1; }
pc=$(find "$work/soma" -name soma.pc)
[ -n "$pc" ] || { echo "soma.pc is not installed"; exit 1; }
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs soma)
libdir=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --variable=libdir soma)
echo "flags: $flags"

# Only what is installed may be used: the program is compiled outside the source tree.
cp "$source/examples/soma_article.c" "$work/"
cd "$work"
# shellcheck disable=SC2086
"$2" soma_article.c -o soma_article $flags
unset SOMA_SERVER SOMA_SOMAD
LD_LIBRARY_PATH=$libdir ./soma_article >out 2>err || { cat out err; exit 1; }
grep -q 'all sums are right' out
grep -q 'a server of this process' err

# On-chip memory from C and C++.
cp "$source"/examples/tbufpool_two_stages.c* .
# shellcheck disable=SC2086
"$2" tbufpool_two_stages.c -o two_stages $flags
LD_LIBRARY_PATH=$libdir ./two_stages >out 2>err || { cat out err; exit 1; }
grep -q 'every address is right' out
if [ $# -eq 3 ]; then
    # shellcheck disable=SC2086
    "$3" -std=c++17 tbufpool_two_stages.cpp -o two_stages_cpp $flags
    LD_LIBRARY_PATH=$libdir ./two_stages_cpp >out 2>err || { cat out err; exit 1; }
    grep -q 'products are right' out
fi
echo "the installed library and server work"
