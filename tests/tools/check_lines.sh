#!/bin/sh
# check_lines.sh DIR: no .c or .h file over 700 lines; no function over 70 (with universal ctags,
# which knows where functions end). Tables (.def) are data and may be long.
set -eu
LC_ALL=C
export LC_ALL

file_max=700
function_max=70
cd "${1:?usage: check_lines.sh DIR}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

find api server client tests examples -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) | sort >"$work/files"
[ -s "$work/files" ] || { echo "no source found in $(pwd)"; exit 1; }

while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le $file_max ] && continue
    echo "$file: $lines lines; split it: at most $file_max"
    failed=1
done <"$work/files"

if ctags --version 2>/dev/null | grep -q 'Universal Ctags'; then
    ctags -f - --languages=C,C++ --kinds-C=f --kinds-C++=f --fields=+ne --sort=no -L "$work/files" 2>/dev/null |
        awk -F '\t' -v max=$function_max '{
            line = 0; end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) line = substr($i, 6)
                if ($i ~ /^end:/) end = substr($i, 5)
            }
            functions++
            if (end - line + 1 > max) {
                printf "%s:%d: %s has %d lines; split it: at most %d\n", $2, line, $1, end - line + 1, max
                bad = 1
            }
        }
        END { if (!bad) printf "%d functions, none over %d lines\n", functions, max; exit bad }' || failed=1
else
    echo "universal ctags is not installed: functions are not measured"
fi
exit $failed
