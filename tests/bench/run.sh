#!/usr/bin/env bash
# run.sh [BUILD_DIR [OPTIONS OF SOMA_BENCH...]]: every figure beside its peers, in one JSON document
# on stdout; progress on stderr. Installs the peers (Debian) when they are missing, builds the gRPC
# one, and starts a redis-server of its own on a unix socket. BUILD_DIR (build): a release build;
# it is made when soma_bench is not there.
#   tests/bench/run.sh >figures.json
#   tests/bench/run.sh build --quick          a short form; its figures mean little
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
[ $# -eq 0 ] || shift

# shellcheck source=deploy/packages.sh
. deploy/packages.sh
# shellcheck disable=SC2086,SC2154
install_packages $build_packages libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc \
    redis-server redis-tools

if [ ! -x "$build/tests/soma_bench" ]; then
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo >&2
    cmake --build "$build" -j "$(nproc)" --target soma_bench somad >&2
fi
peer=$build/tests/grpc/peer
[ "$peer" -nt tests/bench/grpc/peer.cc ] || tests/bench/grpc/build.sh "$build/tests/grpc" >&2

work=$(mktemp -d)
redis_pid=
finish() {
    [ -z "$redis_pid" ] || kill "$redis_pid" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

text() { # TEXT: as a JSON string
    printf '"%s"' "$(printf '%s' "$1" | tr -d '"\\' | tr '\n' ' ' | sed 's/ *$//')"
}

version_of() { # PACKAGE
    text "$(dpkg-query -W -f='${Version}' "$1" 2>/dev/null || echo unknown)"
}

redis_rate() { # OPTIONS...: SET per second
    redis-benchmark -s "$work/redis.sock" -t set --csv "$@" 2>/dev/null | sed -n 's/^"SET","\([0-9.]*\)".*/\1/p'
}

redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --appendonly no --dir "$work" \
    >"$work/redis.log" 2>&1 &
redis_pid=$!
for _ in $(seq 100); do
    [ -S "$work/redis.sock" ] && break
    sleep 0.1
done

pipelined=$(redis_rate -P 1000 -c 2 -n 3000000)
unary=$(redis_rate -P 1 -c 1 -n 100000)
kill "$redis_pid"
wait "$redis_pid" 2>/dev/null || true
redis_pid=
code=0
"$build/tests/soma_bench" --json --grpc "$peer" --redis "$@" >"$work/bench.json" || code=$?

cat <<EOF
{"machine":{"processor":$(text "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"),
"processors":$(nproc),"memoryKiB":$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo),
"kernel":$(text "$(uname -r)"),"loadBefore":$(text "$(cut -d ' ' -f 1-3 /proc/loadavg)")},
"versions":{"commit":$(text "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"),
"compiler":$(text "$(cc --version | head -n 1)"),"libmicrohttpd":$(version_of libmicrohttpd-dev),
"cjson":$(version_of libcjson-dev),"grpc":$(version_of libgrpc++-dev),"redis":$(version_of redis-server)},
"redis":{"setPerSecondPipelined1000x2":${pipelined:-null},"setPerSecondUnary":${unary:-null}},
"bench":$(cat "$work/bench.json")}
EOF
exit "$code"
