#!/bin/sh
# options.sh SOMAD FILE...: each file tells every option of somad, with its default.
set -eu
LC_ALL=C
export LC_ALL

somad=${1:?usage: options.sh SOMAD FILE...}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "--devices 8", one option a line; without a default only its name.
"$somad" --help | awk '
    /^  --/ { name = $1; next }
    name != "" && /^      / {
        text = $0
        if (!sub(/.*\(default: /, "", text)) text = ""
        sub(/\)$/, "", text)
        print name, text
        name = ""
    }' | grep -v -e '^--help ' -e '^--version ' >"$work/options"
[ "$(wc -l <"$work/options")" -gt 5 ] || { echo "somad --help is not understood"; exit 1; }

failed=0
for file in "$@"; do
    while read -r name default; do
        row=$(grep -F "| \`$name" "$file" | head -n 1)
        if [ -z "$row" ]; then
            echo "$file: has no row for $name"
            failed=1
        elif [ "$default" != none ] && ! printf '%s' "${row#*|*|}" | grep -qF -- "$default"; then
            echo "$file: $name: the default is $default"
            failed=1
        fi
    done <"$work/options"
done
[ $failed -ne 0 ] || echo "$(wc -l <"$work/options") options, all told"
exit $failed
