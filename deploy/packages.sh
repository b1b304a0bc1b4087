# Debian packages that soma needs, each list once. Source it, then: install_packages $build_packages
# shellcheck shell=bash disable=SC2034

build_packages="build-essential cmake pkg-config libmicrohttpd-dev libgnutls28-dev libcjson-dev libcurl4-openssl-dev libbsd-dev libxxhash-dev uthash-dev"
run_packages="ca-certificates curl"
test_packages="libcunit1-dev python3 nodejs universal-ctags haproxy"
# For tests/containers and tests/observe, besides npm (of whoever has packaged node).
container_packages="docker.io docker-compose mmdebstrap iptables iproute2 haproxy prometheus openssl"
check_packages="clang clang-format clang-tidy libclang-rt-14-dev lld"

# Install those of the named packages that are missing; says which. Needs root or sudo for that.
install_packages() {
    local missing="" package as_root=""
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    echo "installing:$missing" >&2
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "not root and no sudo: run as root: apt-get install$missing" >&2
            return 1
        }
        as_root=sudo
    fi
    $as_root apt-get update -qq >&2 || return 1
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
