#!/usr/bin/env bash
# run.sh SOMAD: Prometheus scrapes two running somad and the balancer before them, and every query of
# the dashboard returns data; the rules are valid and fire when they should. Needs the programs
# prometheus, promtool and haproxy; exits with 77 without them.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: $0 SOMAD" >&2
    exit 2
fi
somad=$1
PATH=$PATH:/usr/sbin
for program in prometheus promtool haproxy; do
    if ! command -v "$program" >/dev/null; then
        echo "skipped: $program is not installed (deploy/packages.sh: container_packages)"
        exit 77
    fi
done
here=$(cd "$(dirname "$0")" && pwd)
deploy=$here/../../deploy
work=$(mktemp -d)
pids=()
finish() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT

promtool check config "$deploy/prometheus/prometheus.yml" >"$work/check" || { cat "$work/check"; exit 1; }
cp "$here/rules_test.yml" "$deploy/prometheus/rules.yml" "$work"
promtool test rules "$work/rules_test.yml" >"$work/rules" || { cat "$work/rules"; exit 1; }

read -r a b balancer figures prometheus <<<"$(python3 -c 'import socket
sockets = [socket.socket() for _ in range(5)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])')"
for instance in "a $a" "b $b"; do
    "$somad" --listen "127.0.0.1:${instance#* }" --instance "${instance% *}" >>"$work/out" 2>>"$work/log" &
    pids+=($!)
done
"$deploy/haproxy/fixed.sh" "a=127.0.0.1:$a" "b=127.0.0.1:$b" >"$work/haproxy.cfg"
cp -r "$deploy/haproxy/errors" "$work"
SOMA_BALANCER_BIND=127.0.0.1:$balancer SOMA_BALANCER_FIGURES=127.0.0.1:$figures \
    haproxy -f "$work/haproxy.cfg" >>"$work/log" 2>&1 &
pids+=($!)

# As it is deployed, but with these addresses, and often enough for a test.
cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 500ms, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
  - job_name: soma
    static_configs: [{targets: ["127.0.0.1:$a", "127.0.0.1:$b"]}]
  - job_name: balancer
    static_configs: [{targets: ["127.0.0.1:$figures"]}]
END
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" \
    --web.listen-address="127.0.0.1:$prometheus" --log.level=warn >>"$work/log" 2>&1 &
pids+=($!)

"$here/queries.py" "$deploy/grafana/dashboards/soma.json" "$deploy/prometheus/rules.yml" \
    "http://127.0.0.1:$balancer" "http://127.0.0.1:$prometheus" || { tail -n 20 "$work/log"; exit 1; }
# Labels name routes and kinds, never a session or an object.
curl --silent "http://127.0.0.1:$a/metrics" >"$work/metrics"
promtool check metrics <"$work/metrics"
if grep -qE '(a|b)-[0-9a-f]{32}|0x[0-9a-f]{6}' "$work/metrics"; then
    echo "FAILED: the metrics name sessions or addresses"
    exit 1
fi
