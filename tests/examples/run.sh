#!/usr/bin/env bash
# run.sh SOMAD [PROGRAM...]: start somad on a free port and run every example against it, then the
# given programs (the C examples). Each checks itself; this fails when one of them does.
set -euo pipefail

if [ $# -lt 1 ]; then
    echo "usage: $0 SOMAD [PROGRAM...]" >&2
    exit 2
fi
somad=$1
shift
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d)
pid=""
finish() {
    if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
        kill "$pid"
        wait "$pid" || true
    fi
    rm -rf "$work"
}
trap finish EXIT

"$somad" --listen 127.0.0.1:0 >"$work/out" 2>"$work/log" &
pid=$!
url=""
for _ in $(seq 600); do
    url=$(sed -n 's/^somad listening on //p' "$work/out")
    [ -n "$url" ] && break
    kill -0 "$pid" 2>/dev/null || { echo "somad did not start:"; cat "$work/log"; exit 1; }
    sleep 0.05
done
[ -n "$url" ] || { echo "somad said nothing in 30 s:"; cat "$work/log"; exit 1; }
export SOMA_SERVER=$url

failed=0
# example NAME COMMAND...: run it, say how it went, show what it said when it failed.
example() {
    local name=$1
    shift
    if ! command -v "$1" >/dev/null; then
        echo "-- $name: skipped, there is no $1"
    elif timeout 300 "$@" >"$work/example" 2>&1; then
        echo "-- $name: passed"
    else
        echo "-- $name: FAILED (exit $?)"
        cat "$work/example"
        failed=$((failed + 1))
    fi
}

export PYTHONDONTWRITEBYTECODE=1 # the examples leave nothing beside themselves
example curl "$examples/curl/soma_article.sh"
example python python3 "$examples/python/soma_article.py"
example node node "$examples/node/soma_article.mjs"
example "curl, on-chip" "$examples/curl/tbufpool_two_stages.sh" "$work/picture.svg"
example "python, on-chip" python3 "$examples/python/tbufpool_two_stages.py"
example "python, pyasc's names" python3 "$(dirname "$0")/asc_names.py" "$examples/python"
for program in "$@"; do
    example "$(basename "$program")" "$program"
done

# What a wrong server looks like: one line, and exit code 1.
for command in "bash $examples/curl/soma_article.sh" "python3 $examples/python/soma_article.py" \
    "node $examples/node/soma_article.mjs" "bash $examples/curl/tbufpool_two_stages.sh" \
    "python3 $examples/python/tbufpool_two_stages.py"; do
    command -v "${command%% *}" >/dev/null || continue
    # shellcheck disable=SC2086
    if SOMA_SERVER=http://127.0.0.1:9 timeout 60 $command >"$work/example" 2>&1; then
        echo "-- without a server: FAILED: $command exits with 0"
        failed=$((failed + 1))
    fi
done

sessions=$(curl --silent --max-time 30 "$url/v1/sessions" | grep -o '"session":' | wc -l)
if [ "$sessions" -ne 1 ]; then
    echo "-- sessions: FAILED: $sessions are left, there should be the default one only"
    failed=$((failed + 1))
fi
kill "$pid"
if ! wait "$pid"; then
    echo "-- somad: FAILED to stop cleanly"
    tail -n 20 "$work/log"
    failed=$((failed + 1))
fi
pid=""
[ "$failed" -eq 0 ]
