#!/bin/sh
# check_symbols.sh ENGINE API [check]: the engine is pure. libsoma_engine.a may use nothing but
# itself, libsoma_api.a and the functions listed here; libsoma_api.a nothing but itself and these.
# With "check" (a build that verifies its invariants) the engine may also complain and abort.
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ]; then
    echo "usage: $0 libsoma_engine.a libsoma_api.a [check]" >&2
    exit 2
fi
engine=$1 api=$2 mode=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pure="bcmp memchr memcmp memcpy memmove memset snprintf strchr strcmp strlen strncmp strnlen vsnprintf"
# What compilers put in: position independence, hardened copies, stack protection.
compiler="_GLOBAL_OFFSET_TABLE_ __memcpy_chk __memmove_chk __memset_chk __snprintf_chk
__stack_chk_fail __vsnprintf_chk"
[ "$mode" != check ] || pure="$pure abort fprintf fputc fwrite stderr __fprintf_chk"

# What a library needs, without the calls that sanitizers and coverage add.
needed() {
    nm -u "$1" | sed -n 's/^ *U \([^@]*\).*/\1/p' |
        grep -v -E '^__(asan|ubsan|tsan|sanitizer|gcov|llvm)_' | sort -u
}

defined() {
    nm --defined-only "$1" | sed -n 's/^[0-9a-f]* [A-Za-z] //p'
}

# check LIBRARY ALLOWED...: names each symbol that LIBRARY may not use, and who uses it.
check() {
    library=$1
    shift
    sort -u "$@" >"$work/allowed"
    needed "$library" >"$work/needed"
    [ -s "$work/needed" ] || { echo "$library: nm found no symbols"; return 1; }
    comm -23 "$work/needed" "$work/allowed" >"$work/surplus"
    [ -s "$work/surplus" ] || return 0
    while read -r symbol; do
        users=$(nm -A -u "$library" | grep -E " U $symbol(@|\$)" | sed 's/^[^:]*:\([^:]*\):.*/\1/' | tr '\n' ' ')
        echo "$library uses $symbol, which is not pure: $users"
    done <"$work/surplus"
    return 1
}

# shellcheck disable=SC2086
printf '%s\n' $pure $compiler >"$work/pure"
defined "$engine" >"$work/engine"
defined "$api" >"$work/api"
failed=0
check "$engine" "$work/pure" "$work/engine" "$work/api" || failed=1
check "$api" "$work/pure" "$work/api" || failed=1
[ $failed -ne 0 ] || echo "pure"
exit $failed
