#!/usr/bin/env bash
# run.sh SOMAD [PROGRAM]: three somad behind HAProxy, as plain processes. 200 sessions; one instance
# is killed under load, one drained, the killed one started anew (drive.py). PROGRAM, the C example,
# runs through the balancer too. Needs haproxy; exits with 77 without it.
set -euo pipefail

if [ $# -lt 1 ]; then
    echo "usage: $0 SOMAD [PROGRAM]" >&2
    exit 2
fi
somad=$1 program=${2:-}
PATH=$PATH:/usr/sbin
if ! command -v haproxy >/dev/null; then
    echo "skipped: haproxy is not installed (deploy/packages.sh: test_packages)"
    exit 77
fi
here=$(cd "$(dirname "$0")" && pwd)
haproxy_dir=$here/../../deploy/haproxy
work=$(mktemp -d)
balancer=""
finish() {
    local pid
    [ -z "$balancer" ] || kill "$balancer" 2>/dev/null || true
    for pid in "$work"/*.pid; do
        if [ -e "$pid" ]; then kill -9 "$(cat "$pid")" 2>/dev/null || true; fi
    done
    wait
    rm -rf "$work"
}
trap finish EXIT

# Ports that are free now.
free_ports() {
    python3 -c 'import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])' "$1"
}

# start NAME: the instance of this name, on its port, in the background.
start() {
    "$somad" --listen "127.0.0.1:$(cat "$work/$1.port")" --instance "$1" --drain-timeout 120 \
        >>"$work/$1.out" 2>>"$work/$1.log" &
    echo $! >"$work/$1.pid"
}

# wait_for WHAT COMMAND...: until the command succeeds, at most 20 s.
wait_for() {
    local what=$1
    shift
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "FAILED: $what"
    tail -n 5 "$work"/*.log
    exit 1
}

read -r port figures a b c <<<"$(free_ports 5)"
fixed=()
for instance in "a $a" "b $b" "c $c"; do
    name=${instance% *}
    echo "${instance#* }" >"$work/$name.port"
    start "$name"
    fixed+=("$name=127.0.0.1:${instance#* }")
done
"$haproxy_dir/fixed.sh" "${fixed[@]}" >"$work/haproxy.cfg"
cp -r "$haproxy_dir/errors" "$work/errors"
export SOMA_BALANCER_BIND=127.0.0.1:$port SOMA_BALANCER_FIGURES=127.0.0.1:$figures
haproxy -q -c -f "$work/haproxy.cfg" || { haproxy -c -f "$work/haproxy.cfg"; exit 1; }
haproxy -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>&1 &
balancer=$!
url=http://127.0.0.1:$port
wait_for "the balancer is not ready" curl --silent --fail "$url/readyz"
# All three have to be there before sessions are spread.
up() {
    [ "$(curl --silent "http://127.0.0.1:$figures/metrics" |
        grep -cE '^haproxy_server_status\{proxy="(sessions|others)",server="[abc]",state="UP"\} 1')" -eq 6 ]
}
wait_for "the balancer does not see three instances" up

# The balancer's own answers are errors as the contract has them.
[ "$(curl --silent "$url/metrics" | grep -c NO_SUCH_ROUTE)" -eq 1 ] || { echo "FAILED: /metrics"; exit 1; }
[ "$(curl --silent "$url/v1/version" | grep -c emulated)" -eq 1 ] || { echo "FAILED: /v1/version"; exit 1; }
# The same key opens one session, whoever is asked.
for _ in 1 2; do
    curl --silent --header 'Idempotency-Key: scale' --json '{}' "$url/v1/sessions" | grep -o '"session":"[^"]*"'
done >"$work/once"
[ "$(sort -u "$work/once" | wc -l)" -eq 1 ] || { echo "FAILED: an Idempotency-Key opened two sessions"; exit 1; }
once=$(cut -d '"' -f 4 "$work/once" | head -n 1)
curl --silent --request DELETE "$url/v1/sessions/$once" | grep -q '"freed"' || { echo "FAILED: its home"; exit 1; }
# One `default` for everyone without a session.
homes=$(for _ in 1 2 3 4 5 6; do curl --silent --head --request GET "$url/v1/devices"; done | grep -i x-soma-instance | sort -u | wc -l)
[ "$homes" -eq 1 ] || { echo "FAILED: the session default is in $homes places"; exit 1; }

"$here/drive.py" "127.0.0.1:$port" --sessions 200 --kill "kill -9 \$(cat $work/{}.pid)" \
    --drain "kill \$(cat $work/{}.pid)" \
    --restart "touch $work/{}.restart; while [ -e $work/{}.restart ]; do sleep 0.1; done" &
drive=$!
# Only this shell can start an instance that it can wait for.
while kill -0 "$drive" 2>/dev/null; do
    for asked in "$work"/*.restart; do
        [ -e "$asked" ] || continue
        start "$(basename "$asked" .restart)"
        rm "$asked"
    done
    sleep 0.1
done
wait "$drive"

# The one that was drained has ended by itself, and well.
wait "$(cat "$work/b.pid")" || { echo "FAILED: the drained instance ended with $?"; tail -n 5 "$work/b.log"; exit 1; }
if [ -n "$program" ]; then
    SOMA_SERVER=$url "$program" >"$work/program" || { cat "$work/program"; exit 1; }
    echo "$(basename "$program") through the balancer: passed"
fi

# Nobody is left: the balancer says so in the contract's form.
for instance in a c; do
    kill "$(cat "$work/$instance.pid")"
done
gone() {
    curl --silent "$url/v1/version" | grep -q '"code":503.*INSTANCE_UNAVAILABLE'
}
wait_for "no answer of the contract without instances" gone
curl --silent "$url/readyz" | grep -q INSTANCE_UNAVAILABLE || { echo "FAILED: /readyz"; exit 1; }
# Each error of the balancer has the length that it tells, and is JSON.
python3 - "$haproxy_dir"/errors/*.http <<'END'
import json, sys
for path in sys.argv[1:]:
    head, body = open(path, "rb").read().split(b"\r\n\r\n", 1)
    error = json.loads(body)["error"]
    lines = head.decode().split("\r\n")
    assert int(lines[0].split()[1]) == error["code"], path
    assert f"Content-Length: {len(body)}" in lines and error["details"][0]["reason"], path
END
echo "scale: all held"
