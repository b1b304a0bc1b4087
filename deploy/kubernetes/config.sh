#!/bin/sh
# config.sh [PODS]: balancer-config.yaml, the configuration of the balancer for the pods soma-0 to
# soma-(PODS - 1), on standard output. More pods than are named there get no requests.
set -eu
cd "$(dirname "$0")"
pods=${1:-10}
set --
pod=0
while [ "$pod" -lt "$pods" ]; do
    set -- "$@" "soma-$pod=soma-$pod.soma.\${SOMA_NAMESPACE}.svc.\${SOMA_CLUSTER_DOMAIN-cluster.local}:8080"
    pod=$((pod + 1))
done
cat <<'END'
# Made by config.sh from ../haproxy.
apiVersion: v1
kind: ConfigMap
metadata:
  name: soma-balancer
  labels: {app.kubernetes.io/name: soma-balancer}
data:
  haproxy.cfg: |
END
../haproxy/fixed.sh "$@" | sed -e 's/^./    &/'
for file in ../haproxy/errors/*; do
    printf '  %s: "%s"\n' "$(basename "$file")" "$(sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\r$/\\r\\n/' "$file" | tr -d '\n')"
done
