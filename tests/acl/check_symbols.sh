#!/bin/sh
# check_symbols.sh LIBRARY: libascendcl.so exports exactly the functions of the table and the symbols
# of extra_symbols.txt. Names that begin with "_" belong to the compiler and the linker and are free.
set -eu
LC_ALL=C
export LC_ALL

if [ $# -ne 1 ]; then
    echo "usage: $0 LIBRARY" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
table=$here/../../api/soma/acl_functions.def
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n 's/^ACL_\(IMPLEMENTED\|UNSUPPORTED\)\(_VARIADIC\)\{0,1\}([ABC], \([A-Za-z0-9_]*\),.*/\3/p' \
    "$table" >"$work/rows"
sort "$work/rows" >"$work/functions"
grep -v '^#' "$here/extra_symbols.txt" | sed '/^$/d' >"$work/extra" || true
sort -u "$work/functions" "$work/extra" >"$work/expected"
nm -D --defined-only "$1" >"$work/nm"
sed 's/.* //; s/@.*//; /^_/d' "$work/nm" | sort -u >"$work/exported"

uniq -d "$work/functions" >"$work/twice"
comm -23 "$work/expected" "$work/exported" >"$work/missing"
comm -13 "$work/expected" "$work/exported" >"$work/surplus"
failed=0
for list in twice missing surplus; do
    [ -s "$work/$list" ] || continue
    failed=1
    case $list in
    twice) echo "functions that stand twice in the table:" ;;
    missing) echo "functions that $1 does not export:" ;;
    surplus) echo "symbols that $1 exports and must not:" ;;
    esac
    sed 's/^/  /' "$work/$list"
done
[ -s "$work/functions" ] || { echo "no functions found in $table"; failed=1; }
[ $failed -ne 0 ] || echo "$(wc -l <"$work/functions") functions, all exported, nothing else"
exit $failed
