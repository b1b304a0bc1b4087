#!/usr/bin/env bash
# The Kubernetes manifests: every object against the schema of its kind and for members that it does not
# have, and against each other. No cluster is needed; npm fetches the schemas.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
deploy=$here/../../deploy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$deploy/kubernetes/config.sh" | cmp - "$deploy/kubernetes/balancer-config.yaml" || {
    echo "FAILED: balancer-config.yaml is not what config.sh makes"
    exit 1
}
cp "$here/kubernetes.mjs" "$here/package.json" "$work"
npm install --prefix "$work" --silent --no-fund --no-audit --ignore-scripts
(cd "$work" && node kubernetes.mjs "$deploy/kubernetes")
(cd "$work" && node node_modules/typescript/bin/tsc --noEmit --strict --skipLibCheck --module esnext \
    --moduleResolution bundler --target esnext objects.ts)
# What the pods of the balancer read is a configuration that HAProxy takes.
PATH=$PATH:/usr/sbin
SOMA_NAMESPACE="test" haproxy -q -c -f "$work/balancer/haproxy.cfg"
echo "kubernetes: the manifests are valid"
