#!/bin/sh
# fixed.sh NAME=HOST:PORT...: haproxy.cfg for somad instances of these names (somad --instance NAME)
# and addresses, on standard output. Addresses may use variables of the environment. The directory
# errors is looked for beside the file that is read.
set -eu
[ $# -gt 0 ] || { echo "usage: $0 NAME=HOST:PORT..." >&2; exit 2; }
servers=""
for instance in "$@"; do
    case $instance in
    *=*:*) ;;
    *) echo "$0: $instance is not NAME=HOST:PORT" >&2; exit 2 ;;
    esac
    servers="$servers
    server ${instance%%=*} \"${instance#*=}\""
done
awk -v servers="${servers#?}" '/^ *server-template / { print servers; next } { print }' \
    "$(dirname "$0")/haproxy.cfg"
