#!/usr/bin/env bash
# install.sh BUILD: cmake --install --component server puts somad where deploy/README.md says, it starts with the
# configuration that comes along, and the unit is one that systemd accepts and finds tight.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: $0 BUILD" >&2
    exit 2
fi
build=$1
work=$(mktemp -d)
pid=""
finish() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

DESTDIR=$work/stage cmake --install "$build" --component server --prefix /usr >"$work/log"
stage=$work/stage
find "$stage" -type f | sed "s|^$stage||" | sort >"$work/files"
[ "$(grep -cE '^/usr/bin/somad$|/soma/somad\.conf$|/usr/lib/systemd/system/somad\.service$' "$work/files")" -eq 3 ] || {
    echo "FAILED: installed is"
    cat "$work/files"
    exit 1
}
# Every line of the configuration, those that are commented out too, is an option.
conf=$(find "$stage" -name somad.conf)
"$stage/usr/bin/somad" --help >"$work/help"
sed -n 's/^#* *\([a-z-]*\) = .*/\1/p' "$conf" | sort -u >"$work/options"
[ "$(wc -l <"$work/options")" -ge 8 ]
while read -r option; do
    grep -q -- "^  --$option " "$work/help" || { echo "FAILED: somad.conf has $option"; exit 1; }
done <"$work/options"
"$stage/usr/bin/somad" --config "$conf" --listen 127.0.0.1:0 >"$work/out" 2>"$work/log" &
pid=$!
for _ in $(seq 300); do
    [ -s "$work/out" ] && break
    kill -0 "$pid" 2>/dev/null || { cat "$work/log"; exit 1; }
    sleep 0.1
done
kill "$pid"
wait "$pid"
pid=""

command -v systemd-analyze >/dev/null || { echo "the unit was not checked: there is no systemd-analyze"; exit 0; }
mkdir "$work/unit"
sed "s|^ExecStart=[^ ]*|ExecStart=$stage/usr/bin/somad|" "$stage/usr/lib/systemd/system/somad.service" >"$work/unit/somad.service"
systemd-analyze verify --man=no "$work/unit/somad.service" 2>"$work/verify" || { cat "$work/verify"; exit 1; }
if grep -F somad.service "$work/verify"; then
    exit 1
fi
systemd-analyze security --no-pager --offline=true --threshold=20 "$work/unit/somad.service" >"$work/security" || {
    grep -F ✗ "$work/security"
    exit 1
}
tail -n 1 "$work/security"
