#!/usr/bin/env bash
# Two stages of a kernel in one piece of on-chip memory: bash and curl, nothing else.
#
#   SOMA_SERVER=http://127.0.0.1:8080 examples/curl/tbufpool_two_stages.sh [PICTURE.svg]
#
# A pool of 128 KiB: 64 KiB that both stages use, and 64 KiB that the pools of the stages share.
# Runs both stages, prints the map of the memory (and writes the picture), shows what is refused.
# Checks what it sees; exits with 1 when something is not as documented.
set -euo pipefail

server=${SOMA_SERVER:-http://127.0.0.1:8080}
session=""

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'NOT AS DOCUMENTED: %s\n' "$*" >&2; exit 1; }

# ask METHOD PATH [JSON]: print the answer, whatever it is.
ask() {
    local args=(--silent --show-error --max-time 30 --request "$1")
    [ -z "$session" ] || args+=(--header "Soma-Session: $session")
    [ $# -lt 3 ] || args+=(--header 'Content-Type: application/json' --data "$3")
    curl "${args[@]}" "$server$2"
}

# call METHOD PATH [JSON]: the same; an error ends the program with its message.
call() {
    local answer
    answer=$(ask "$@") || { printf '%s %s failed\n' "$1" "$2" >&2; return 1; }
    case $answer in
        '{"error":'*) printf '%s\n%s %s failed\n' "$answer" "$1" "$2" >&2; return 1 ;;
    esac
    printf '%s\n' "$answer"
}

# field NAME: the number or string of this name in the JSON on stdin. Enough for flat answers;
# a real program would use a JSON parser.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

end_session() {
    [ -z "$session" ] || curl --silent --max-time 30 --request DELETE "$server/v1/sessions/$session" >/dev/null || true
}
trap end_session EXIT

answer=$(call POST /v1/sessions '{"label": "two stages", "soc": "Ascend910B1", "devices": 1, "ttlSeconds": 60}') ||
    { echo "is a soma server at $server? Start somad, or set SOMA_SERVER" >&2; exit 1; }
session=$(field session <<<"$answer")
[ -n "$session" ] || fail "no session in $answer"
answer=$(call POST /v1/pipes)
pipe=/v1/pipes/$(field pipe <<<"$answer")

# pool NAME BUFIDSIZE, queue NAME POSITION: declare it, print its id. It has no memory yet.
pool() { call POST "$pipe/tbufpools" "{\"position\": \"VECCALC\", \"bufIdSize\": $2, \"name\": \"$1\"}" | field tbufpool; }
queue() { call POST "$pipe/tques" "{\"position\": \"$2\", \"depth\": 1, \"name\": \"$1\"}" | field tque; }

# expect ANSWER TEXT...: show the answer; each text must stand in it.
expect() {
    local answer=$1
    echo "$answer"
    shift
    for text in "$@"; do
        [[ $answer == *"$text"* ]] || fail "no $text"
    done
}

say "Three pools, five queues"
p0=$(pool p0 16) p1=$(pool p1 4) p2=$(pool p2 4)
q0=$(queue q0 VECIN) q1=$(queue q1 VECIN) q2=$(queue q2 VECIN)
d0=$(queue d0 VECOUT) d1=$(queue d1 VECOUT)
echo "pools $p0 $p1 $p2, queues $q0 $q1 $q2 $d0 $d1"

say "128 KiB: q0 for both stages, and the rest twice, for p1 and for p2"
expect "$(call POST "$pipe:initBufPool" "{\"tbufpool\": $p0, \"len\": \"128KiB\"}")" '"startAddress":0,"len":131072'
expect "$(call POST "$pipe/tbufpools/$p0:initBuffer" "{\"tque\": $q0, \"num\": 1, \"len\": \"64KiB\"}")" \
    '"memory":"UB"' '"buffers":[{"address":0,"len":65536}]'
expect "$(call POST "$pipe/tbufpools/$p0:initBufPool" "{\"tbufpool\": $p1, \"len\": \"64KiB\"}")" \
    '"startAddress":65536,"len":65536'
expect "$(call POST "$pipe/tbufpools/$p0:initBufPool" "{\"tbufpool\": $p2, \"len\": \"64KiB\", \"shareBuf\": $p1}")" \
    '"startAddress":65536,"len":65536'

# tensor QUEUE VERB [ID]: allocTensor and deQue print the tensor's id; enQue and freeTensor take one.
tensor() { call POST "$pipe/tques/$1:$2" "{${3:+\"tensor\": $3}}" | field tensor; }

# stage POOL IN OUT: its buffers; what a stage does with them, without the computing; reset.
stage() {
    local source result
    expect "$(call POST "$pipe/tbufpools/$1:initBuffer" "{\"tque\": $2, \"num\": 1, \"len\": \"32KiB\"}")" \
        '"buffers":[{"address":65536,"len":32768}]'
    expect "$(call POST "$pipe/tbufpools/$1:initBuffer" "{\"tque\": $3, \"num\": 1, \"len\": \"32KiB\"}")" \
        '"buffers":[{"address":98304,"len":32768}]'
    source=$(tensor "$2" allocTensor)
    tensor "$2" enQue "$source"
    source=$(tensor "$2" deQue)
    result=$(tensor "$3" allocTensor)
    tensor "$3" enQue "$result"
    tensor "$2" freeTensor "$source"
    result=$(tensor "$3" deQue)
    tensor "$3" freeTensor "$result"
    call POST "$pipe/tbufpools/$1:reset" >/dev/null
}

say "Stage 1, in p1"
stage "$p1" "$q1" "$d0"

say "Stage 2, in p2: the same bytes"
stage "$p2" "$q2" "$d1"

say "The map: 128 KiB are enough for 192 KiB of buffers"
layout() { curl --silent --show-error --max-time 30 --header "Soma-Session: $session" --header "Accept: $1" "$server$pipe/layout"; }
expect "$(layout text/plain)" 'UB  131072 of 196608 bytes used'
if [ $# -ge 1 ]; then
    layout image/svg+xml >"$1"
    echo "the picture is in $1"
fi

say "Both stages at once is what a device would get wrong without a word"
source=$(tensor "$q1" allocTensor)
expect "$(ask POST "$pipe/tques/$q2:allocTensor")" '"reason":"BUFFER_OVERLAP"' 'overlaps the live tensor'
tensor "$q1" freeTensor "$source"

say "Reset gives everything back"
call POST "$pipe/tbufpools/$p0:reset" >/dev/null
call POST "$pipe:reset" >/dev/null
layout=$(layout application/json)
[[ $layout != *'"usedBytes":'[1-9]* ]] || fail "a reset pipe holds nothing: $layout"
echo "nothing is in use"

call DELETE "/v1/sessions/$session"
session=""
printf '\nAll as documented.\n'
