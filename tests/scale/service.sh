#!/usr/bin/env bash
# service.sh SOMAD: what somad does as a service among others: its name in session ids and answers, TLS,
# --healthcheck, and sessions that go on after it was told to end.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: $0 SOMAD" >&2
    exit 2
fi
somad=$1
work=$(mktemp -d)
pid=""
finish() {
    [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"

fail() {
    echo "FAILED: $*"
    tail -n 5 "$work/log" 2>/dev/null || true
    exit 1
}

# start OPTION...: somad on a free port and on the socket s; sets $pid and $url.
start() {
    "$somad" --listen 127.0.0.1:0 --listen "unix:$work/s" "$@" >out 2>log &
    pid=$!
    url=""
    for _ in $(seq 600); do
        if [ "$(wc -l <out)" -eq 2 ]; then
            url=$(sed -n 's/^somad listening on \(http.*\)/\1/p' out)
            return
        fi
        kill -0 "$pid" 2>/dev/null || fail "somad did not start"
        sleep 0.05
    done
    fail "somad said nothing in 30 s"
}

stop() {
    kill "$pid"
    wait "$pid" || fail "exit code $?"
    pid=""
}

on_socket() { curl --silent --max-time 30 --unix-socket s "$@"; }
lost() { on_socket --header "Soma-Session: $1" http://soma/v1/devices; }

# ---- its name ----

start --instance one-2
on_socket --dump-header head --json '{}' http://soma/v1/sessions >opened
session=$(cut -d '"' -f 4 opened)
[[ $session =~ ^one-2-[0-9a-f]{32}$ ]] || fail "the session is named $session"
grep -qi '^x-soma-instance: one-2' head || fail "no X-Soma-Instance"
on_socket --dump-header head http://soma/nowhere >/dev/null
grep -qi '^x-soma-instance: one-2' head || fail "no X-Soma-Instance in an error"
lost "$session" | grep -q '"device":0' || fail "its own session"
lost two-00000000000000000000000000000000 | grep -q 'instance \\"two\\".*SESSION_LOST' || fail "a session of another"
lost one-2-00000000000000000000000000000000 | grep -q 'started anew.*SESSION_LOST' || fail "a session of an earlier start"
lost "${session%??????????}0000000000" | grep -q 'SESSION_LOST' || fail "another start"
lost "one-2-000000000000000000000000${session: -8}" | grep -q 'NO_SUCH_SESSION' || fail "a session that never was"
lost one-2 | grep -q NO_SUCH_SESSION || fail "no session id at all"
on_socket --request DELETE "http://soma/v1/sessions/two-00000000000000000000000000000000" | grep -q SESSION_LOST || fail "in a path"
stop
"$somad" --instance a.b 2>error && fail "the name a.b"
grep -q 'instance: "a.b"' error || fail "no word on the name"
start --instance hostname
on_socket --json '{}' http://soma/v1/sessions | grep -q "\"session\":\"$(uname -n | cut -d . -f 1)-" || fail "hostname"
stop

# ---- TLS, and asking for its health ----

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout key -out cert 2>/dev/null || {
    echo "TLS was not tried: there is no openssl"
    exit 0
}
openssl ecparam -genkey -name prime256v1 -noout -out other 2>/dev/null
for options in "--tls-cert cert" "--tls-key key" "--tls-cert cert --tls-key other" "--tls-cert key --tls-key key" \
    "--tls-cert none --tls-key key"; do
    # shellcheck disable=SC2086
    "$somad" --listen 127.0.0.1:0 $options >/dev/null 2>error && fail "$options"
    grep -q '^somad: --tls' error || fail "no word on $options"
done
start --tls-cert cert --tls-key key --instance one
tls=(curl --silent --max-time 30 --cacert cert)
[[ $url == https://* ]] || fail "it says $url"
"${tls[@]}" "$url/v1/version" | grep -q emulated || fail "TLS"
"${tls[@]}" --tlsv1.2 --tls-max 1.2 "$url/v1/version" | grep -q emulated || fail "TLS 1.2"
"${tls[@]}" --tls-max 1.1 "$url/v1/version" 2>/dev/null && fail "TLS 1.1"
curl --silent --max-time 30 "$url/v1/version" && fail "a certificate that nobody knows"
curl --silent --max-time 30 "http://${url#https://}/v1/version" && fail "without TLS"
on_socket http://soma/v1/version | grep -q emulated || fail "the socket speaks TLS"
# A large body both ways, and what libmicrohttpd refuses by itself.
"${tls[@]}" --json '{"size":"8MiB"}' "$url/v1/devices/0/memory:malloc" >allocated
address=$(cut -d '"' -f 4 allocated)
head -c 8388608 /dev/urandom >bytes
"${tls[@]}" --fail --header 'Content-Type: application/octet-stream' --upload-file bytes "$url/v1/devices/0/memory/$address"
"${tls[@]}" "$url/v1/devices/0/memory/$address?size=8388608" | cmp - bytes || fail "bytes"
{ printf 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'; sleep 1; } |
    openssl s_client -quiet -connect "${url#https://}" 2>/dev/null >refused || true
grep -q BAD_REQUEST refused || fail "an error of the HTTP library"
port=${url##*:}
"$somad" --healthcheck --listen "127.0.0.1:$port" --tls-cert cert --tls-key key || fail "health over TLS"
SOMAD_LISTEN=0.0.0.0:$port SOMAD_TLS_CERT=cert SOMAD_TLS_KEY=key "$somad" --healthcheck || fail "health, from the environment"
"$somad" --healthcheck --listen "unix:$work/s" || fail "health over the socket"
"$somad" --healthcheck --listen "127.0.0.1:$port" 2>/dev/null && fail "healthy without TLS"
stop
"$somad" --healthcheck --listen "127.0.0.1:$port" 2>/dev/null && fail "healthy when it is gone"

# ---- the end ----

# Without sessions it ends at once, however long they might go on.
start --drain-timeout 60
stop
# With one it says that it leaves, serves on, refuses new ones after three seconds, and ends with the session.
start --drain-timeout 60
session=$(on_socket --json '{}' http://soma/v1/sessions | cut -d '"' -f 4)
kill "$pid"
for _ in $(seq 100); do
    on_socket http://soma/readyz | grep -q DRAINING && break
    sleep 0.05
done
"$somad" --healthcheck --listen "unix:$work/s" 2>/dev/null && fail "healthy while it leaves"
short=$(on_socket --json '{}' http://soma/v1/sessions | cut -d '"' -f 4)
[[ $short == s-* ]] || fail "refused before balancers can have noticed"
for _ in $(seq 100); do
    on_socket --json '{}' http://soma/v1/sessions | tee again | grep -q DRAINING && break
    more=$(cut -d '"' -f 4 again)
    on_socket --output /dev/null --request DELETE "http://soma/v1/sessions/$more"
    sleep 0.1
done
grep -q DRAINING again || fail "sessions are opened all the time"
lost "$session" | grep -q '"device":0' || fail "the session did not go on"
for each in "$session" "$short"; do
    on_socket --request DELETE "http://soma/v1/sessions/$each" | grep -q freed || fail "its end"
done
wait "$pid" || fail "exit code $?"
# Another signal ends the waiting.
start --drain-timeout 600
on_socket --json '{}' http://soma/v1/sessions >/dev/null
kill "$pid"
for _ in $(seq 100); do
    on_socket http://soma/readyz | grep -q DRAINING && break
    sleep 0.05
done
stop
echo "service: all held"
