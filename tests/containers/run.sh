#!/usr/bin/env bash
# run.sh [PROGRAM]: soma in containers, from nothing: the base image and ours are built, docker-compose
# brings the services up, and everything that deploy/README.md says of them is tried. PROGRAM, the C example
# built on this machine, is run against them too.
# Needs root, docker.io, docker-compose, mmdebstrap, haproxy, openssl, python3 and npm (deploy/packages.sh:
# container_packages). Runs a dockerd of its own and takes it away again; with DOCKER_HOST set that one.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
program=${1:-}
here=tests/containers
# shellcheck source=tests/containers/engine.sh
. "$here/engine.sh"

work=$(mktemp -d)
passed=0 failed=0 started=$SECONDS
export COMPOSE_PROJECT_NAME=somatest$$
quiet_compose() {
    docker-compose --profile demo --profile scale --profile observe "$@" >>"$work/compose.log" 2>&1
}
finish() {
    trap - EXIT INT TERM
    [ -z "${DOCKER_HOST:-}" ] || quiet_compose down --volumes --timeout 2
    engine_stop
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# check WHAT COMMAND...: run it until something fails, count it, show what it said when it failed.
check() {
    local what=$1 at=$SECONDS code
    shift
    (
        set -e
        "$@"
    ) >"$work/said" 2>&1
    code=$?
    if [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
        echo "-- $what: passed ($((SECONDS - at)) s)"
        grep '^   ' "$work/said" || true
    else
        failed=$((failed + 1))
        echo "-- $what: FAILED ($((SECONDS - at)) s)"
        tail -n 40 "$work/said"
        tail -n 10 "$work/compose.log" 2>/dev/null
    fi
}

# A check that the rest is built on.
need() {
    local before=$failed
    check "$@"
    [ "$failed" -eq "$before" ] || finish_early
}
finish_early() {
    echo "$passed passed, $failed failed"
    exit 1
}

# eventually COMMAND...: until it succeeds, at most 30 s.
eventually() {
    for _ in $(seq 300); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "not within 30 s: $*"
    "$@"
}

container() { docker-compose --profile scale --profile observe ps -q "$1"; }
state() { docker inspect --format "{{.State.$1}}" "$2"; }
is_healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' "$1")" = healthy ]; }
reason_of() { grep -o '"reason":"[A-Z_]*"' | cut -d '"' -f 4; }
open_session() { curl --silent --fail --json "${2:-{\}}" "$1/v1/sessions" | cut -d '"' -f 4; }

read -r port balancer_port prometheus_port <<<"$(python3 -c 'import socket
sockets = [socket.socket() for _ in range(3)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])')"
export SOMA_PORT=$port SOMA_BALANCER_PORT=$balancer_port SOMA_PROMETHEUS_PORT=$prometheus_port
url=http://127.0.0.1:$port
balancer=http://127.0.0.1:$balancer_port

# ---- images ----

engine_start "$work/engine" || finish_early
need "the base image" engine_base

build_image() {
    docker build --file deploy/Dockerfile --tag soma .
}
need "the image, from scratch" build_image

image_size() {
    local base image
    base=$(docker image inspect --format '{{.Size}}' debian:bookworm-slim)
    image=$(docker image inspect --format '{{.Size}}' soma)
    echo "   base $((base / 1000000)) MB, image $((image / 1000000)) MB"
    [ $((image - base)) -lt 20000000 ]
}
check "its size" image_size

image_facts() {
    local version
    version=$(sed -n 's/^project(soma VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
    [ "$(docker run --rm soma --version)" = "somad $version" ]
    [ "$(docker image inspect --format '{{index .Config.Labels "org.opencontainers.image.version"}}' soma)" = "$version" ]
    [ "$(docker image inspect --format '{{.Config.User}} {{.Config.StopSignal}}' soma)" = "10001:10001 SIGTERM" ]
    # Nobody is let in unasked.
    { docker run --rm soma 2>&1 || true; } | grep -- "--token-file, or --insecure"
}
check "its version, labels and user; it lets nobody in by default" image_facts
check "what it should not have" "$here/scan.py" debian:bookworm-slim soma

# ---- one server ----

up_default() {
    docker-compose up -d --no-build somad
    eventually is_healthy "$(container somad)"
}
need "docker-compose up: healthy" up_default
somad=$(container somad)

walls() {
    local status
    status=$(docker exec "$somad" cat /proc/1/status)
    echo "$status" | grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):'
    echo "$status" | grep -qE '^Uid:\s10001\s10001'
    echo "$status" | grep -qE '^CapEff:\s0000000000000000'
    echo "$status" | grep -qE '^NoNewPrivs:\s1'
    echo "$status" | grep -qE '^Seccomp:\s2'
    docker exec "$somad" touch /tmp/x && return 1
    docker exec --user 0 "$somad" touch /usr/bin/x && return 1
    [ "$(docker inspect --format '{{.HostConfig.Memory}}' "$somad")" -eq $((2 << 30)) ]
    [ "$(docker port "$somad" 8080/tcp)" = "127.0.0.1:$SOMA_PORT" ]
}
check "no rights, a read-only file system, limits" walls

examples() {
    export SOMA_SERVER=$url
    examples/curl/soma_article.sh
    python3 examples/python/soma_article.py
    node examples/node/soma_article.mjs
    if [ -n "$program" ]; then "$program"; fi
}
check "examples in curl, Python, node and C from outside" examples
demo() {
    docker-compose --profile demo build demo
    docker-compose run --rm demo | grep "all sums are right"
}
check "profile demo: the C example in a container" demo
check "nothing is written to the file system" bash -c "[ -z \"\$(docker diff $somad)\" ]"

crash() {
    local session pid
    session=$(open_session "$url")
    pid=$(state Pid "$somad")
    kill -9 "$pid"
    eventually curl --silent --fail "$url/readyz"
    [ "$(docker inspect --format '{{.RestartCount}}' "$somad")" -eq 1 ]
    [ "$(curl --silent --header "Soma-Session: $session" "$url/v1/devices" | reason_of)" = SESSION_LOST ]
    curl --silent --fail "$url/v1/devices" >/dev/null
}
check "it crashes: it is back, and says that the session is lost" crash

# A request that waits for two seconds of the device, while the server is told to go.
drain() {
    local session asked
    session=$(open_session "$url" '{"clock":"wall"}')
    curl --silent --fail --header "Soma-Session: $session" --json '{}' "$url/v1/devices/0/streams"
    curl --silent --fail --header "Soma-Session: $session" --json '{"durationNs":2000000000}' \
        "$url/v1/devices/0/streams/1:delay"
    curl --silent --header "Soma-Session: $session" --json '{}' "$url/v1/devices/0/streams/1:synchronize" >"$work/waited" &
    asked=$!
    sleep 0.5
    docker stop --time 30 "$somad"
    wait "$asked"
    grep COMPLETE "$work/waited"
    [ "$(state ExitCode "$somad")" -eq 0 ]
    if curl --silent "$url/readyz"; then return 1; fi
}
check "docker stop: the request under way is answered, exit code 0" drain
quiet_compose down --volumes

# ---- tokens and TLS ----

secure() {
    (
        cd "$work"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
            -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout tls.key -out tls.crt 2>/dev/null
        echo correct-horse >tokens
        chown 10001 tokens tls.key
        chmod 0400 tokens tls.key
    )
    export SOMA_TOKENS=$work/tokens SOMA_TLS_CERT=$work/tls.crt SOMA_TLS_KEY=$work/tls.key
    local files=(-f docker-compose.yml -f deploy/compose.secure.yml) tls=https://127.0.0.1:$SOMA_PORT
    docker-compose "${files[@]}" up -d --no-build somad
    eventually is_healthy "$(docker-compose "${files[@]}" ps -q somad)"
    [ "$(curl --silent --cacert "$work/tls.crt" "$tls/v1/devices" | reason_of)" = UNAUTHENTICATED ]
    curl --silent --fail --cacert "$work/tls.crt" --header 'Authorization: Bearer correct-horse' "$tls/v1/devices"
    if curl --silent --fail "http://127.0.0.1:$SOMA_PORT/livez"; then return 1; fi
}
check "compose.secure.yml: tokens and TLS" secure
quiet_compose down --volumes

# ---- several servers ----

all_up() {
    [ "$(docker exec "$(container balancer)" bash -c \
        'exec 3<>/dev/tcp/127.0.0.1/8404; printf "GET /metrics HTTP/1.0\r\n\r\n" >&3; cat <&3' |
        grep -cE '^haproxy_server_status\{proxy="(sessions|others)",server="[a-z0-9]*",state="UP"\} 1')" -eq 6 ]
}
scale_up() {
    docker-compose --profile scale build balancer
    SOMA_MEMORY=256m docker-compose --profile scale up -d --no-build --scale instance=3 balancer
    eventually all_up
}
need "profile scale: three instances behind HAProxy" scale_up

# shellcheck disable=SC2016
check "200 sessions, one instance killed, one drained, one started anew" \
    python3 tests/scale/drive.py "127.0.0.1:$balancer_port" --sessions 200 \
    --kill 'kill -9 $(docker inspect --format "{{.State.Pid}}" {})' \
    --drain 'docker stop --time 60 {} >/dev/null 2>&1 &' --restart 'docker start {} >/dev/null 2>&1 || true'
scale_again() {
    SOMA_MEMORY=256m docker-compose --profile scale up -d --no-build --scale instance=3 balancer
    eventually all_up
}
check "three instances again" scale_again

balancer_anew() {
    local sessions=() session
    for _ in 1 2 3 4 5 6; do
        sessions+=("$(open_session "$balancer")")
    done
    docker restart --time 2 "$(container balancer)"
    eventually curl --silent --fail "$balancer/readyz"
    for session in "${sessions[@]}" "${sessions[@]}"; do
        curl --silent --fail --header "Soma-Session: $session" "$balancer/v1/devices" >/dev/null
    done
}
check "the balancer is started anew: sessions are found" balancer_anew
eventually all_up

# Fills device memory in one session until the kernel ends its instance. A second one elsewhere keeps its bytes.
over_memory() {
    local greedy="" modest victim i since base
    modest=$(open_session "$balancer")
    while [ -z "$greedy" ] || [ "${greedy%-*}" = "${modest%-*}" ]; do
        greedy=$(open_session "$balancer")
    done
    victim=${greedy%-*}
    since=$(date +%s)
    curl --silent --fail --header "Soma-Session: $modest" --json '{"size":"1MiB"}' "$balancer/v1/devices/0/memory:malloc"
    printf 'still here' | curl --silent --fail --header "Soma-Session: $modest" --header 'Content-Type: application/octet-stream' \
        --upload-file - "$balancer/v1/devices/0/memory/0x500000000000"
    base=$(curl --silent --fail --header "Soma-Session: $greedy" --json '{"size":"2GiB"}' \
        "$balancer/v1/devices/0/memory:malloc" | cut -d '"' -f 4)
    head -c 33554432 /dev/zero | tr '\0' x >"$work/block"
    for i in $(seq 0 15); do
        curl --silent --output /dev/null --fail --header "Soma-Session: $greedy" --header 'Content-Type: application/octet-stream' \
            --upload-file "$work/block" "$balancer/v1/devices/0/memory/$(printf '0x%x' $((base + i * 33554432)))" || break
    done
    echo "ended after $i blocks of 32 MiB, of 256 MiB"
    [ "$i" -ge 3 ] && [ "$i" -lt 10 ]
    docker events --since "$since" --until "$(($(date +%s) + 2))" --filter event=oom --filter "container=$victim" | grep oom
    eventually is_healthy "$victim"
    [ "$(docker inspect --format '{{.RestartCount}}' "$victim")" -ge 1 ]
    [ "$(curl --silent --header "Soma-Session: $greedy" "$balancer/v1/devices" | reason_of)" = SESSION_LOST ]
    [ "$(curl --silent --header "Soma-Session: $modest" "$balancer/v1/devices/0/memory/0x500000000000?size=10")" = "still here" ]
}
check "over its memory an instance ends and is back; the others do not notice" over_memory

# ---- who watches ----

observe() {
    docker build --tag soma-test-prometheus - <<'END'
FROM debian:bookworm-slim
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus \
    && mkdir -p /prometheus && chown nobody /prometheus
USER nobody
ENTRYPOINT ["/usr/bin/prometheus"]
END
    SOMA_PROMETHEUS_IMAGE=soma-test-prometheus docker-compose --profile observe up -d --no-build prometheus somad
    eventually sees_all
}
sees_all() {
    curl --silent --fail "http://127.0.0.1:$prometheus_port/api/v1/query?query=sum%20by%20(job)(up)" >"$work/up" &&
        grep -q '"job":"soma"},"value":\[[0-9.]*,"4"\]' "$work/up" && grep -q '"job":"balancer"},"value":\[[0-9.]*,"1"\]' "$work/up"
}
check "profile observe: Prometheus finds four servers and the balancer" observe
# Grafana has no package: what it is given has to be there, and in the form that it reads.
grafana() {
    docker-compose --profile observe config >"$work/config"
    python3 - <<'END'
import json, yaml
sources = yaml.safe_load(open("deploy/grafana/provisioning/datasources/soma.yml"))["datasources"]
providers = yaml.safe_load(open("deploy/grafana/provisioning/dashboards/soma.yml"))["providers"]
compose = yaml.safe_load(open("docker-compose.yml"))["services"]
mounts = dict(volume.split(":")[1::-1] for volume in compose["grafana"]["volumes"])
assert sources[0]["url"] == "http://prometheus:9090" and "prometheus" in compose
path = mounts[providers[0]["options"]["path"]] + "/soma.json"
assert json.load(open(path))["uid"] == "soma"
assert compose["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"].endswith("/soma.json")
END
}
check "what Grafana is given" grafana
check "Kubernetes manifests" "$here/kubernetes.sh"

down() {
    quiet_compose down --volumes --timeout 5
    [ -z "$(docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME")" ]
}
check "docker-compose down" down

echo "took $(((SECONDS - started) / 60)) minutes $(((SECONDS - started) % 60)) s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
