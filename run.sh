#!/usr/bin/env bash
# Build soma, start somad, run the worked example through the C client, and keep serving.
#   ./run.sh          serve until Ctrl-C
#   ./run.sh --once   stop after the example
# SOMA_LISTEN (default 127.0.0.1:8080) says where to serve; a taken port gives way to a free one.
set -euo pipefail
cd "$(dirname "$0")"
once=no
case "${1:-}" in
"") ;;
--once) once=yes ;;
*)
    echo "usage: ./run.sh [--once]" >&2
    exit 2
    ;;
esac

# shellcheck source=deploy/packages.sh
. deploy/packages.sh
# shellcheck disable=SC2086
install_packages $build_packages $run_packages

echo "== building (build/)"
log=$(mktemp)
if ! { cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSOMA_BUILD_TESTS=OFF &&
    cmake --build build -j "$(nproc)"; } >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    exit 1
fi
rm -f "$log"

work=$(mktemp -d)
somad=""
finish() {
    if [ -n "$somad" ] && kill -0 "$somad" 2>/dev/null; then
        kill "$somad"
        wait "$somad" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Start somad on $1; sets $somad and $url, or fails.
start_somad() {
    build/server/somad --listen "$1" >"$work/out" 2>"$work/log" &
    somad=$!
    for _ in $(seq 100); do
        url=$(sed -n 's/^somad listening on //p' "$work/out")
        [ -n "$url" ] && return 0
        kill -0 "$somad" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}

listen=${SOMA_LISTEN:-127.0.0.1:8080}
if ! start_somad "$listen"; then
    [ -n "${SOMA_LISTEN:-}" ] && { cat "$work/log" >&2; exit 1; }
    start_somad 127.0.0.1:0 || { cat "$work/log" >&2; exit 1; }
    echo "== $listen is taken"
fi
echo "== somad serves on $url"
echo
echo "== the worked example, through the C client (examples/soma_article.c)"
SOMA_SERVER=$url build/examples/soma_article
echo
echo "== where to look next"
echo "   curl $url/v1/devices                  eight emulated devices, no NPU"
echo "   curl $url/v1/openapi.json             the whole contract"
echo "   examples/                             the same job in C, curl, Python and node"
echo "   README.md                             a five-minute tour; link your own C program"
echo "   schema/POOLS.md                       how a pool decides"
if [ "$once" = yes ]; then
    exit 0
fi
echo
echo "== serving on $url (Ctrl-C ends it; events go to $work/log)"
wait "$somad"
