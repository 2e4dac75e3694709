// @module-tag nightly
import { readFileSync } from "node:fs";
import { freePort } from "@atlasqueue/embedded";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { eventually, startPrometheus, type Prometheus, forFile } from "@atlasqueue/harness";
import { startSystem, type Api } from "./system.ts";

// The rules and the dashboard of packages/deploy, before a real Prometheus that watches a real system.
const read = (file: string) => readFileSync(new URL(`../../deploy/monitoring/${file}`, import.meta.url), "utf8");
type Rules = { groups: { rules: { alert: string; expr: string }[] }[] };
type Dashboard = { panels: { targets?: { expr: string }[] }[] };

const rules = (parse(read("alerts.yaml")) as Rules).groups.flatMap((group) => group.rules);
const panels = (JSON.parse(read("dashboard.json")) as Dashboard).panels;
const drawn = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const expressions = [...rules.map(({ expr }) => expr), ...drawn].map((text) =>
  text.replaceAll("$__rate_interval", "5m"),
);
/** The same rules with seconds for minutes: a test sees in half a minute what takes half an hour. */
const hasty = read("alerts.yaml").replaceAll(/(\bfor: |\[|offset )(\d+)m/g, "$1$2s");

const system = forFile(startSystem);

let api: Api;
let prometheus: Prometheus;
let targets: string[];
beforeEach(async () => {
  api = await system.startApi({ LOG_LEVEL: "error" });
  const port = String(await freePort());
  await system.startWorker({ WORKER_METRICS_PORT: port });
  targets = [new URL(api.url).host, `127.0.0.1:${port}`];
  prometheus = await startPrometheus({ targets, rules: hasty });
  onTestFinished(() => prometheus.stop());
});

test("every metric and label that an alert or a panel names is there, and Prometheus takes every expression", async () => {
  const [done, failed] = [await api.create({ type: "noop" }), await api.create({ type: "demo.fail", max_attempts: 1 })];
  await eventually(async () => expect(await api.read(done)).toMatchObject({ status: "succeeded" }));
  await eventually(async () => expect(await api.read(failed)).toMatchObject({ status: "dead" }));
  const shown = (await Promise.all(targets.map(async (host) => (await fetch(`http://${host}/metrics`)).text()))).join();
  const types = [...shown.matchAll(/^# TYPE (\S+) (\w+)/gm)];
  const names = types.flatMap(([, name, type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const labels = new Set([...shown.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
  for (const expression of expressions) {
    const used = [...expression.matchAll(/\b(?:atlasqueue|nodejs|process)_\w+/g)].map(([name]) => name);
    expect(used.length, expression).toBeGreaterThan(0);
    expect([expression, used.filter((name) => !names.includes(name))]).toEqual([expression, []]);
    const by = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
    const filtered = [...expression.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
    const known = [...labels, "instance", "le"];
    expect([expression, [...by, ...filtered].filter((label) => !known.includes(label))]).toEqual([expression, []]);
    await prometheus.query(expression);
  }
  await eventually(async () => expect(await prometheus.query("sum(atlasqueue_worker_slots)")).toHaveLength(1));
});

test("an outage of Redis and one of PostgreSQL are told, and nothing before, between and after them", async () => {
  const firing = () => prometheus.firing();
  const patient = { timeout_ms: 90_000 };
  // Enough of a past that a rate means something.
  await eventually(
    async () => expect(await prometheus.query("increase(atlasqueue_sweeps_total[5s]) > 0")).not.toEqual([]),
    patient,
  );
  await eventually(async () => expect(await firing()).toEqual([]), patient);

  await system.servers.redis.stop();
  await eventually(async () => expect(await firing()).toEqual(["AtlasQueueRedisDown"]), patient);
  await system.servers.redis.restart();
  await eventually(async () => expect(await firing()).toEqual([]), patient);

  await system.servers.postgres.stop();
  const calling = async () => void (await api.submit({ type: "noop" }));
  const told = ["AtlasQueueApiErrors", "AtlasQueueMaintenanceStopped", "AtlasQueueMetricsMissing"];
  await eventually(async () => {
    await calling();
    expect((await firing()).filter((name) => told.includes(name)).toSorted()).toEqual(told);
  }, patient);
  await system.servers.postgres.restart();
  await eventually(async () => {
    expect((await api.submit({ type: "noop" })).status).toBe(201);
    expect((await firing()).filter((name) => told.includes(name))).toEqual([]);
  }, patient);
}, 400_000);
