#!/usr/bin/env bash
# A stream-ordered memory pool from the command line: bash and curl, nothing else.
#
#   SOMA_SERVER=http://127.0.0.1:8080 examples/curl/soma_article.sh
#
# Creates a pool, takes three blocks from it, adds two vectors on the emulated device, frees the
# blocks, takes three again and gets the same addresses, trims and destroys the pool. Checks what
# it sees; exits with 1 when something is not as documented.
set -euo pipefail

server=${SOMA_SERVER:-http://127.0.0.1:8080}
session=""

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'NOT AS DOCUMENTED: %s\n' "$*" >&2; exit 1; }

# call METHOD PATH [JSON]: print the answer; an error ends the program with its message.
call() {
    local args=(--silent --show-error --fail-with-body --max-time 30 --request "$1")
    [ -z "$session" ] || args+=(--header "Soma-Session: $session")
    [ $# -lt 3 ] || args+=(--header 'Content-Type: application/json' --data "$3")
    curl "${args[@]}" "$server$2" || { printf '\n%s %s failed\n' "$1" "$2" >&2; return 1; }
}

# field NAME: the number or string of this name in the JSON on stdin. Enough for flat answers;
# a real program would use a JSON parser.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

end_session() {
    [ -z "$session" ] || curl --silent --max-time 30 --request DELETE "$server/v1/sessions/$session" >/dev/null || true
}
trap end_session EXIT

say "Who is there?"
call GET /v1/version || { echo "is a soma server at $server? Start somad, or set SOMA_SERVER" >&2; exit 1; }
echo

say "A session: one emulated process, with one device of its own"
answer=$(call POST /v1/sessions '{"label": "curl example", "devices": 1, "ttlSeconds": 60}')
session=$(field session <<<"$answer")
[ -n "$session" ] || fail "no session in $answer"
echo "session $session (all that follows names it in the header Soma-Session)"

device=/v1/devices/0
say "A stream, and a pool of at most 1 GiB"
stream=$(call POST $device/streams | field stream)
answer=$(call POST $device/pools '{"maxSize": "1GiB"}')
pool=$(field pool <<<"$answer")
echo "stream $stream, pool $pool at $(field baseAddress <<<"$answer")"
call PUT "$device/pools/$pool/attributes/releaseThreshold" '{"value": "64MiB"}' >/dev/null
echo "releaseThreshold 64 MiB: a synchronise leaves so much memory in the pool"

malloc() { call POST "$device/pools/$pool:malloc" "{\"size\": 8, \"stream\": $stream}"; }
free() { call POST "$device/pools/$pool:free" "{\"ptr\": \"$1\", \"stream\": $stream}" >/dev/null; }
attribute() { call GET "$device/pools/$pool/attributes/$1" | field value; }

say "Three blocks of 8 bytes on the stream (each takes 2 MiB, the granularity)"
addresses=()
for name in x y z; do
    answer=$(malloc)
    addresses+=("$(field ptr <<<"$answer")")
    echo "$name: ${addresses[-1]}  $(field reuse <<<"$answer")"
    [ "$(field reuse <<<"$answer")" = FRESH ] || fail "the first blocks must be FRESH"
done
x=${addresses[0]} y=${addresses[1]} z=${addresses[2]}

say "x = 1 1 1 1, y = 2 2 2 2 (four half-precision numbers each); z = x + y on the device"
put() {
    curl --silent --show-error --fail-with-body --max-time 30 --request PUT \
        --header "Soma-Session: $session" --header 'Content-Type: application/octet-stream' \
        --data-binary @- "$server$device/memory/$1?stream=$stream"
}
printf '\x00\x3c\x00\x3c\x00\x3c\x00\x3c' | put "$x"
printf '\x00\x40\x00\x40\x00\x40\x00\x40' | put "$y"
call POST "$device/streams/$stream:launchKernel" \
    "{\"kernel\": \"add_custom\", \"blockDim\": 4, \"args\": [{\"ptr\": \"$x\"}, {\"ptr\": \"$y\"}, {\"ptr\": \"$z\"}]}"
echo
sum=$(call GET "$device/memory/$z?size=8&stream=$stream" | od -A n -t x2 --endian=little)
echo "z:$sum (4200 is 3 in half precision)"
[ "$sum" = " 4200 4200 4200 4200" ] || fail "z is$sum"

say "Free on the stream: the memory is unused at once, but it stays with the pool"
free "$x"
free "$y"
free "$z"
used=$(attribute usedMemCurrent) reserved=$(attribute reservedMemCurrent)
echo "USED $used, RESERVED $reserved"
[ "$used $reserved" = "0 6291456" ] || fail "USED must be 0 and RESERVED 6291456 (3 x 2 MiB)"

say "Three blocks again, before the device has come anywhere: the same stream may use them"
for i in 0 1 2; do
    answer=$(malloc)
    ptr=$(field ptr <<<"$answer")
    echo "$ptr  $(field reuse <<<"$answer")"
    [ "$(field reuse <<<"$answer")" = SAME_STREAM ] || fail "a freed block must be reused"
    [ "$ptr" = "${addresses[$i]}" ] || fail "block $i was ${addresses[$i]}"
done
for ptr in "${addresses[@]}"; do free "$ptr"; done

say "Synchronise: the host waits, and memory above the threshold goes back (here: none)"
answer=$(call POST "$device/streams/$stream:synchronize")
echo "$answer"
[ "$(field releasedBytes <<<"$answer")" = 0 ] || fail "the threshold must keep the memory"

say "Trim: give all idle memory back now"
answer=$(call POST "$device/pools/$pool:trimTo" '{"minBytesToKeep": 0}')
echo "$answer"
[ "$(field releasedBytes <<<"$answer")" = 6291456 ] || fail "6291456 bytes were idle"

say "Destroy the pool, end the session"
answer=$(call DELETE "$device/pools/$pool")
echo "$answer"
[ "$(field leakedAllocations <<<"$answer")" = 0 ] || fail "nothing was left allocated"
call DELETE "/v1/sessions/$session"
session=""
printf '\n\nAll as documented.\n'
