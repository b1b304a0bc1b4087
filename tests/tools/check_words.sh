#!/bin/sh
# check_words.sh DIR: calls that no source of ours makes. Comments and strings do not count.
set -eu
LC_ALL=C
export LC_ALL

# Unbounded, stateful or locale-dependent everywhere; in the engine also what would make it impure.
anywhere='strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|gets|alloca|setlocale'
engine="$anywhere|malloc|calloc|realloc|free|time|clock|clock_gettime|gettimeofday|rand|random|srand|getenv"
cd "${1:?usage: check_words.sh DIR}"
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# search WORDS FILE...
search() {
    words=$1
    shift
    awk -v words="(^|[^A-Za-z0-9_.>])($words)[ \t]*\\\\(" '
        FNR == 1 { in_comment = 0 }
        {
            text = $0
            gsub(/\\./, "", text)
            gsub(/"[^"]*"/, "\"\"", text)
            gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, "", text)
            if (in_comment) {
                if (!sub(/^.*\*\//, "", text)) next
                in_comment = 0
            }
            sub(/\/\/.*/, "", text)
            if (sub(/\/\*.*/, "", text)) in_comment = 1
            if (text ~ words) printf "%s:%d: banned call: %s\n", FILENAME, FNR, $0
        }' "$@" >>"$found"
}

source_of() {
    find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \)
}

# shellcheck disable=SC2046
search "$anywhere" $(source_of api client examples server tests)
# shellcheck disable=SC2046
search "$engine" $(source_of server/engine)
[ -s "$found" ] || { echo "no banned calls"; exit 0; }
sort -u "$found"
exit 1
