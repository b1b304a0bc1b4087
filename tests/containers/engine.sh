# A container engine of our own, for the length of a test. Source it, then: engine_start DIR; at the end
# engine_stop. With DOCKER_HOST set that engine is used instead, and left as it is.
# shellcheck shell=bash

engine_pid="" engine_dir="" engine_bridge=""

# engine_start DIR: dockerd with everything below DIR; sets DOCKER_HOST.
engine_start() {
    # Debian's client and daemon belong together; another client may stand before them.
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH DOCKER_BUILDKIT=0 COMPOSE_DOCKER_CLI_BUILD=0
    if [ -n "${DOCKER_HOST:-}" ]; then
        echo "== the engine at $DOCKER_HOST"
        return
    fi
    # The rules of the machine are put back at the end: one engine at a time.
    exec 9>/run/lock/soma-test-engine
    flock --timeout 1800 9 || {
        echo "another run of this test does not end" >&2
        return 1
    }
    engine_dir=$1
    mkdir -p "$engine_dir"
    iptables-save >"$engine_dir/iptables" 2>/dev/null || true
    cat /proc/sys/net/ipv4/ip_forward >"$engine_dir/forward"
    # A bridge and addresses of its own: another engine may run on the machine. A run that was
    # killed may have left it.
    if ip link show soma-test0 >/dev/null 2>&1; then
        if pgrep -f 'dockerd .*--bridge soma-test0' >/dev/null; then
            echo "a run of this test was killed and its dockerd lives: end it first" >&2
            return 1
        fi
        ip link delete soma-test0 || return 1
    fi
    ip link add soma-test0 type bridge || return 1
    engine_bridge=soma-test0
    ip address add 10.213.255.1/24 dev soma-test0 || return 1
    export DOCKER_HOST=unix://$engine_dir/socket
    dockerd --data-root "$engine_dir/data" --exec-root "$engine_dir/exec" --pidfile "$engine_dir/pid" \
        --host "$DOCKER_HOST" --mtu 1400 --cgroup-parent soma-test --bridge soma-test0 \
        --default-address-pool base=10.213.0.0/17,size=24 >"$engine_dir/log" 2>&1 9>&- &
    engine_pid=$!
    for _ in $(seq 300); do
        docker version >/dev/null 2>&1 && return
        kill -0 "$engine_pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "dockerd does not start:" >&2
    tail -n 20 "$engine_dir/log" >&2
    return 1
}

# End it and all its containers, and take away what it leaves on the machine.
engine_stop() {
    [ -n "$engine_dir" ] || return 0
    if [ -n "$engine_pid" ]; then
        kill "$engine_pid" 2>/dev/null || true
        wait "$engine_pid" 2>/dev/null || true
    fi
    awk -v dir="$engine_dir/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r |
        while read -r mount; do umount "$mount" || true; done
    # Where there was no table there is nothing to go back to: empty ones.
    grep -q '^\*nat' "$engine_dir/iptables" || printf '*nat\nCOMMIT\n' >>"$engine_dir/iptables"
    grep -q '^\*filter' "$engine_dir/iptables" ||
        printf '*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n' >>"$engine_dir/iptables"
    iptables-restore <"$engine_dir/iptables" || true
    [ -z "$engine_bridge" ] || ip link delete "$engine_bridge" 2>/dev/null || true
    cat "$engine_dir/forward" >/proc/sys/net/ipv4/ip_forward || true
    find /sys/fs/cgroup -depth -type d -path '*/soma-test*' -exec rmdir {} + 2>/dev/null || true
    rm -rf "$engine_dir"
    engine_dir="" engine_bridge=""
    exec 9>&-
}

# The image that the Dockerfiles begin with: made of Debian's packages, so that no registry is needed.
engine_base() {
    docker image inspect debian:bookworm-slim >/dev/null 2>&1 && return
    mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
        --aptopt='Acquire::Check-Date "false"' bookworm - /etc/apt/sources.list.d/debian.sources |
        docker import - debian:bookworm-slim
}
