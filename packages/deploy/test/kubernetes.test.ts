import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiSettings, readApiConfig } from "@atlasqueue/api";
import { queueScaling } from "@atlasqueue/contract";
import { readWorkerConfig, workerSettings } from "@atlasqueue/worker-app";
import { beforeAll, describe, expect, test } from "vitest";
import { podOf, render, type Manifest } from "./manifests.ts";
import { faultsIn } from "./schema.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const image = { API_HOST: "0.0.0.0", WORKER_METRICS_HOST: "0.0.0.0" };
const secrets = { DATABASE_URL: "postgres://u:p@h/d", REDIS_URL: "redis://h" };

describe.each(["small", "production", "cloudnative-pg"])("the overlay %s", (overlay) => {
  let documents: Manifest[];
  beforeAll(async () => {
    documents = await render(overlay);
  });
  const ofKind = (kind: string) => documents.filter((one) => one.kind === kind);
  const named = (kind: string, name: string) => {
    const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no ${kind} ${name}`);
    return found;
  };
  const pod = (name: string) => {
    const found = podOf(named("Deployment", name));
    if (!found) throw new Error(`${name} makes no pods`);
    return { ...found, container: found.containers[0] };
  };
  const settings = () => ofKind("ConfigMap")[0]?.data ?? {};
  const withPods = () => documents.flatMap((one) => podOf(one) ?? []);

  test("has all parts, and each has only fields that Kubernetes' schemas know", { tags: ["slow"] }, async () => {
    const kinds = new Set(documents.map(({ kind }) => kind));
    const always = ["Deployment", "Service", "Job", "PodDisruptionBudget", "NetworkPolicy", "ServiceAccount"];
    const scaled = ["HorizontalPodAutoscaler", "ScaledObject", "TriggerAuthentication", "ServiceMonitor", "PodMonitor"];
    const more = { production: scaled, "cloudnative-pg": ["Cluster"] }[overlay] ?? [];
    expect([...kinds]).toEqual(expect.arrayContaining([...always, ...more]));
    for (const document of documents)
      expect([document.kind, document.metadata.name, await faultsIn(document)]).toEqual([
        document.kind,
        document.metadata.name,
        [],
      ]);
  });

  test("no Service of the namespace sets a variable in a pod", () => {
    expect(withPods().map((each) => each.enableServiceLinks)).toEqual(withPods().map(() => false));
  });

  test("secrets are only referred to", () => {
    expect(ofKind("Secret")).toEqual([]);
    expect(JSON.stringify(documents)).not.toMatch(/\w+:\/\/[^"/]*:[^"/]*@|password|aq_/i);
    for (const { volumes, containers } of withPods()) {
      const files = volumes.flatMap(({ secret }) => secret?.items ?? []).map(({ path }) => `/secrets/${path}`);
      expect(containers[0].env.map(({ value }) => value)).toEqual(files);
      expect(containers[0].volumeMounts).toContainEqual({ name: "secrets", mountPath: "/secrets", readOnly: true });
    }
  });

  test("every variable is one that its program reads, with a value it accepts", () => {
    const known = { api: Object.keys(apiSettings.shape), worker: Object.keys(workerSettings.shape) };
    const anyKnown = new Set([...known.api, ...known.worker]);
    expect(Object.keys(settings()).filter((name) => !anyKnown.has(name))).toEqual([]);
    for (const { containers } of withPods())
      for (const { name } of containers[0].env) expect(Object.keys(secrets)).toContain(name.replace(/_FILE$/, ""));
    for (const name of ["atlasqueue-api", "atlasqueue-worker"])
      expect(pod(name).container.envFrom).toEqual([{ configMapRef: { name: ofKind("ConfigMap")[0]?.metadata.name } }]);
    expect(readApiConfig({ ...image, ...secrets, ...settings() }).auth).toBe("required");
    expect(readWorkerConfig({ ...image, ...secrets, ...settings() }).tenants).toBe("*");
  });

  test("ports, commands and probes are those of the programs", async () => {
    const [api, worker] = [pod("atlasqueue-api").container, pod("atlasqueue-worker").container];
    const env = { ...image, ...secrets, ...settings() };
    expect(api.ports).toEqual([{ name: "http", containerPort: readApiConfig(env).listen.port }]);
    expect(worker.ports).toEqual([{ name: "metrics", containerPort: readWorkerConfig(env).metrics.port }]);
    for (const { containers } of withPods())
      expect(existsSync(`${root}/apps/cli/src/commands/${containers[0].args[0]}.ts`)).toBe(true);
    for (const [{ startupProbe, livenessProbe, readinessProbe }, port] of [
      [api, "http"],
      [worker, "metrics"],
    ] as const) {
      // Being restarted helps nobody while PostgreSQL is away.
      expect(livenessProbe?.httpGet).toEqual({ path: "/livez", port });
      expect(startupProbe?.httpGet).toEqual({ path: "/livez", port });
      expect(readinessProbe?.httpGet).toEqual({ path: "/readyz", port });
    }
    expect(named("Service", "atlasqueue-api").spec).toMatchObject({ ports: [{ port: 80, targetPort: "http" }] });
  });

  test("a stop is given the time it takes", () => {
    const [api, worker] = [pod("atlasqueue-api"), pod("atlasqueue-worker")];
    const env = { ...image, ...secrets, ...settings() };
    const [, before = "0"] = api.container.lifecycle?.preStop.exec.command ?? [];
    const grace_ms = (seconds = 30) => seconds * 1_000;
    const needed_ms = Number(before) * 1_000 + readApiConfig(env).shutdown_ms;
    expect(grace_ms(api.terminationGracePeriodSeconds) - needed_ms).toBeGreaterThanOrEqual(10_000);
    expect(grace_ms(worker.terminationGracePeriodSeconds) - readWorkerConfig(env).shutdown_ms).toBeGreaterThanOrEqual(
      10_000,
    );
  });

  test("pods run as nobody special, write nothing but /tmp, and gain no privileges", () => {
    for (const { securityContext, containers, automountServiceAccountToken } of withPods()) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(automountServiceAccountToken).toBe(false);
      expect(containers).toHaveLength(1);
      expect(containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(containers[0].resources).toMatchObject({ requests: { cpu: /./, memory: /./ }, limits: { memory: /./ } });
      expect(containers[0].volumeMounts.map(({ mountPath }) => mountPath)).toEqual(["/secrets", "/tmp"]);
    }
  });

  test("what chooses pods finds some, and what is scaled says no number of its own", () => {
    const labels = ofKind("Deployment").map(
      ({ spec }) => (spec["template"] as { metadata: { labels: Record<string, string> } }).metadata.labels,
    );
    const chosen = (by: Record<string, string>) =>
      labels.filter((one) => Object.entries(by).every(([name, value]) => one[name] === value)).length;
    for (const { spec } of [...ofKind("PodDisruptionBudget"), ...ofKind("PodMonitor")])
      expect(chosen((spec["selector"] as { matchLabels: Record<string, string> }).matchLabels)).toBe(1);
    for (const { spec } of ofKind("NetworkPolicy"))
      expect(chosen((spec["podSelector"] as { matchLabels: Record<string, string> }).matchLabels)).toBeGreaterThan(0);
    expect(chosen(named("Service", "atlasqueue-api").spec["selector"] as Record<string, string>)).toBe(1);
    for (const { spec } of [...ofKind("HorizontalPodAutoscaler"), ...ofKind("ScaledObject")]) {
      const { name } = spec["scaleTargetRef"] as { name: string };
      expect(named("Deployment", name).spec).not.toHaveProperty("replicas");
    }
  });

  test("the scaler asks for figures that there are, of a queue that these workers serve", () => {
    for (const { spec } of ofKind("ScaledObject")) {
      const triggers = spec["triggers"] as { type: string; metadata: { url: string; valueLocation: string } }[];
      expect(triggers.map(({ metadata }) => metadata.valueLocation)).toEqual([
        "oldest_ready_seconds",
        "backlog",
        "running",
      ]);
      for (const { type, metadata } of triggers) {
        expect(type).toBe("metrics-api");
        expect(Object.keys(queueScaling.shape)).toContain(metadata.valueLocation);
        const [, queue = ""] = /^http:\/\/atlasqueue-api\/v1\/queues\/([^/]+)\/scaling$/.exec(metadata.url) ?? [];
        expect(readWorkerConfig({ ...secrets, ...settings() }).queues).toContain(queue);
      }
    }
  });
});

test("a commit of the operator's PostgreSQL waits for one of two standbys, on other machines", async () => {
  const cluster = (await render("cloudnative-pg")).find(({ kind }) => kind === "Cluster");
  const synchronous = { method: "any", number: 1, dataDurability: "required", failoverQuorum: true };
  expect(cluster?.spec).toMatchObject({
    instances: 3,
    postgresql: { synchronous },
    affinity: { podAntiAffinityType: "required" },
  });
  const wrong = { ...cluster, spec: { ...cluster?.spec, instances: "3" } } as Manifest;
  expect(await faultsIn(wrong)).toEqual([expect.stringContaining("instances")]);
});

test("a slip in a manifest is found: a wrong type, a field that is nowhere, one in the wrong place", async () => {
  const good = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "a" } };
  expect(await faultsIn({ ...good, spec: { maxUnavailable: 1 } })).toEqual([]);
  expect(await faultsIn({ ...good, spec: { maxUnavailable: [] } })).toEqual([
    expect.stringContaining("maxUnavailable"),
  ]);
  expect(await faultsIn({ ...good, spec: { maxUnavailible: 1 } })).toEqual([
    "/spec/maxUnavailible is no field of PodDisruptionBudget",
  ]);
  expect(await faultsIn({ ...good, kind: "Podling", spec: {} })).toEqual([
    "kubernetes-models/policy/v1 has no Podling",
  ]);
});
