// kubernetes.mjs DIR: validates the manifests of DIR against the schemas of kubernetes-models and against each
// other. Writes objects.ts, in which the compiler finds members that a kind does not have, and balancer/, what
// the balancer reads.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import yaml from "js-yaml";

const directory = process.argv[2];
const read = (name) => readFileSync(join(directory, name), "utf8");
const files = yaml.load(read("kustomization.yaml")).resources;
const objects = files.flatMap((file) => yaml.loadAll(read(file)));

// Each by the schema of its kind.
let source = "";
for (const [i, object] of objects.entries()) {
  const module = `kubernetes-models/${object.apiVersion}/${object.kind}`;
  const kind = (await import(module))[object.kind];
  try {
    new kind(object).validate();
  } catch (error) {
    throw new Error(`${object.kind} ${object.metadata.name}: ${error.message}`);
  }
  source += `import type {I${object.kind} as T${i}} from ${JSON.stringify(module)};\n`;
  source += `export const o${i}: T${i} = ${JSON.stringify(object, null, 1)};\n`;
}
writeFileSync("objects.ts", source);

const find = (kind, name) => {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  assert.equal(found.length, 1, `one ${kind} is named ${name}`);
  return found[0];
};
const selects = (selector, labels) => Object.entries(selector).every(([key, value]) => labels[key] === value);

// The names that they call each other by.
const pods = find("StatefulSet", "soma").spec;
const balancer = find("Deployment", "soma-balancer").spec;
const somad = pods.template.spec.containers[0];
assert.equal(find("Service", pods.serviceName).spec.clusterIP, "None");
for (const [spec, service] of [[pods, "soma"], [balancer, "soma-balancer"]]) {
  const labels = spec.template.metadata.labels;
  assert.ok(selects(spec.selector.matchLabels, labels), `${service}: the pods are its own`);
  assert.ok(selects(find("Service", service).spec.selector, labels), `${service}: the service finds them`);
  assert.ok(selects(find("PodDisruptionBudget", service).spec.selector.matchLabels, labels));
  for (const container of spec.template.spec.containers) {
    const ports = container.ports.map((port) => port.name);
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe].filter(Boolean))
      assert.ok(ports.includes(probe.httpGet.port) && ["/readyz", "/livez"].includes(probe.httpGet.path));
    for (const port of find("Service", service).spec.ports) assert.ok(ports.includes(port.targetPort));
    for (const mount of container.volumeMounts)
      assert.ok(spec.template.spec.volumes.some((volume) => volume.name === mount.name), mount.name);
    assert.ok(container.securityContext.readOnlyRootFilesystem && container.resources.limits.memory);
  }
}
const policy = find("NetworkPolicy", "soma").spec;
assert.ok(selects(policy.podSelector.matchLabels, pods.template.metadata.labels));

// Pods go slower than their sessions may take, and there are no more than the balancer knows.
const environment = Object.fromEntries(somad.env.map((entry) => [entry.name, entry]));
assert.equal(environment.SOMAD_INSTANCE.valueFrom.fieldRef.fieldPath, "metadata.name");
assert.ok(pods.template.spec.terminationGracePeriodSeconds >= Number(environment.SOMAD_DRAIN_TIMEOUT.value) + 10);
const scaler = find("HorizontalPodAutoscaler", "soma").spec;
assert.deepEqual(scaler.scaleTargetRef, { apiVersion: "apps/v1", kind: "StatefulSet", name: "soma" });
assert.equal(scaler.metrics[0].pods.metric.name, "soma_sessions");
const config = find("ConfigMap", "soma-balancer").data;
const servers = new Set(config["haproxy.cfg"].match(/server soma-\d+ /g));
assert.equal(servers.size, scaler.maxReplicas, "the balancer knows as many pods as there may be");

// What the volume of the balancer looks like.
const volume = balancer.template.spec.volumes.find((candidate) => candidate.name === "config").configMap;
assert.deepEqual(volume.items.map((item) => item.key).sort(), Object.keys(config).sort());
for (const item of volume.items) {
  const path = join("balancer", item.path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, config[item.key]);
}
console.log(`${objects.length} objects: ${objects.map((object) => object.kind).join(", ")}`);
