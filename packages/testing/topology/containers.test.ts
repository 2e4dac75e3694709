import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Job } from "@atlasqueue/contract";
import { freePort } from "@atlasqueue/embedded";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../src/index.ts";
import { ensureBaseImages } from "./containers/base-images.ts";
import { composeOf, type Compose } from "./containers/compose.ts";
import { startEngine, type Engine } from "./containers/engine.ts";
import { ensurePlugins } from "./containers/plugins.ts";
import { run } from "./containers/run.ts";
import { ask, insist } from "./harness/ask.ts";

// The tour that an operator takes, in its order: each test goes on where the one before it ended.
const minutes = 60_000;
const mib = 1_048_576;
/** Kept for the next run if it is named: its images take minutes to make. */
const kept = process.env["CONTAINERS_FOLDER"];
const folder = kept ?? mkdtempSync(join(tmpdir(), "atlasqueue-containers-"));
const figures: [string, string][] = [];
const handler = `
import { hostname } from "node:os";
import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";
export const hello = defineHandler("tour.hello", z.object({ name: z.string() }), async ({ name }) => ({ said: "hello " + name }));
export const where = defineHandler("tour.where", z.looseObject({}), async (_, { progress, signal }) => {
  progress(0.5, hostname());
  await new Promise((resolve) => setTimeout(resolve, 4_000));
});
`;

/** Run inside the image: `name@version` of each package in its SBOM, and of each that is really there. */
const listTold = `
  const { components } = JSON.parse(require("node:fs").readFileSync("/app/sbom.cdx.json", "utf8"));
  const names = components.map(({ group, name, version }) => (group ? group + "/" : "") + name + "@" + version);
  console.log(JSON.stringify(names));
`;
const listInstalled = `
  const { globSync, readFileSync, realpathSync } = require("node:fs");
  const found = globSync("/app/node_modules/.pnpm/*/node_modules/{*,@*/*}/package.json");
  const own = found.filter((file) => realpathSync(file) === file);
  const names = own.map((file) => JSON.parse(readFileSync(file, "utf8"))).map(({ name, version }) => name + "@" + version);
  console.log(JSON.stringify([...new Set(names)]));
`;

let engine: Engine;
let settings: Record<string, string>;
let tour: Compose;
let api = "";
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(folder, "handlers"), { recursive: true });
  writeFileSync(join(folder, "handlers", "tour.ts"), handler);
  engine = await startEngine(folder);
  await ensurePlugins(engine, folder);
  const stand_ins = await ensureBaseImages(engine, folder);
  figures.push(["stand-ins for base images", stand_ins.join(", ") || "none"]);
  const [postgres, redis, pooler] = [await freePort(), await freePort(), await freePort()].map(String) as [
    string,
    string,
    string,
  ];
  settings = {
    API_PORT: "0",
    POSTGRES_PORT: postgres,
    REDIS_PORT: redis,
    POOLER_PORT: pooler,
    HANDLERS: join(folder, "handlers"),
    WORKER_HANDLERS: "/handlers",
    WORKER_DEMO_HANDLERS: "true",
    POSTGRES_PASSWORD: "tour",
    REDIS_PASSWORD: "tour",
  };
  tour = composeOf(engine, folder, settings);
}, 30 * minutes);

afterAll(async () => {
  if (tour) await tour.tryCompose(["down", "--volumes", "--timeout", "5"]);
  await engine?.stop();
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  const width = Math.max(...figures.map(([what]) => what.length));
  process.stdout.write(`\n${figures.map(([what, is]) => `| ${what.padEnd(width)} | ${is} |`).join("\n")}\n`);
}, 5 * minutes);

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const create = async (job: object) => (await insist<Job>(api, "POST", "/v1/jobs", { body: job })).id;
const read = (id: string) => insist<Job>(api, "GET", `/v1/jobs/${id}`);
const reaches = (id: string, fields: object, timeout_ms = 30_000) =>
  eventually(async () => expect(await read(id)).toMatchObject(fields), { timeout_ms });
const ready = (status: number, timeout_ms = minutes) =>
  eventually(async () => expect((await ask(api, "GET", "/readyz")).status).toBe(status), { timeout_ms });
const states = async (service: string) => {
  const format = "{{.State.Status}} {{with .State.Health}}{{.Status}}{{end}}";
  return (await engine.docker(["inspect", "-f", format, ...(await tour.containersOf(service))])).trim().split("\n");
};
const only = async (service: string) => (await tour.containersOf(service))[0] ?? "";

test(
  "docker compose up builds it and comes up healthy, with three workers and two APIs",
  { timeout: 20 * minutes },
  async () => {
    const building = Date.now();
    await tour.compose(["build"], 15 * minutes);
    figures.push(["build", seconds(Date.now() - building)]);
    const starting = Date.now();
    await tour.compose(["up", "-d", "--build", "--scale", "worker=3", "--scale", "api=2"], 5 * minutes);
    await eventually(
      async () => {
        for (const [service, count] of [
          ["api", 2],
          ["worker", 3],
          ["postgres", 1],
          ["redis", 1],
        ] as const)
          expect([service, await states(service)]).toEqual([
            service,
            Array.from({ length: count }, () => "running healthy"),
          ]);
      },
      { timeout_ms: 3 * minutes },
    );
    figures.push(["up until all are healthy", seconds(Date.now() - starting)]);
    api = await tour.urlOf("api", 8_000);
  },
);

test("our image adds at most 60 MB to its base", async () => {
  const size = async (image: string) => Number(await engine.docker(["image", "inspect", "-f", "{{.Size}}", image]));
  const added = (await size("atlasqueue")) - (await size("node:24-slim"));
  figures.push(["image over its base", `${(added / 1e6).toFixed(1)} MB`]);
  expect(added).toBeLessThan(60e6);
});

test("the image says which packages are in it", async () => {
  const inside = async (script: string) =>
    JSON.parse(await engine.docker(["run", "--rm", "--entrypoint", "node", "atlasqueue", "-e", script])) as unknown;
  const told = (await inside(listTold)) as string[];
  const installed = (await inside(listInstalled)) as string[];
  figures.push(["packages in the image's SBOM", String(told.length)]);
  expect(installed.length).toBeGreaterThan(50);
  expect(installed.filter((each) => !told.includes(each))).toEqual([]);
  const others = told.filter((each) => !each.startsWith("@atlasqueue/"));
  expect(others.filter((each) => !installed.includes(each))).toEqual([]);
});

test("a program writes nothing but temporary files, is nobody special, and starts in less than 200 MB", async () => {
  for (const service of ["api", "worker"]) {
    const [id = ""] = await tour.containersOf(service);
    const [host] = JSON.parse(await engine.docker(["inspect", id])) as { HostConfig: Record<string, unknown> }[];
    expect(host?.HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ["ALL"], Memory: 256 * mib });
    const inside = (script: string) => engine.docker(["exec", id, "bash", "-c", script]);
    expect(await inside("touch /app/x 2>&1 || touch /tmp/x && echo no")).toMatch(/Read-only file system\s+no/);
    expect(await inside("id -u; grep CapEff /proc/1/status; cat /proc/1/comm")).toMatch(/^1000\nCapEff:\s0+\ntini\n/);
    const used = Number(
      await inside(
        "cat /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory/memory.usage_in_bytes 2>/dev/null | head -1",
      ),
    );
    figures.push([
      `memory of ${service === "api" ? "an API" : "a worker"} after its start`,
      `${Math.round(used / mib)} MiB`,
    ]);
    expect(used).toBeLessThan(200 * mib);
  }
});

test("the README's curl submits a job that a worker runs", async () => {
  const readme = readFileSync(fileURLToPath(new URL("../../../README.md", import.meta.url)), "utf8");
  const [, command = ""] = /```sh\n(curl -sS -w[^`]*?order-17[^`]*?)```/.exec(readme) ?? [];
  const { stdout } = await run("sh", ["-c", command.replaceAll("http://127.0.0.1:8000", api)]);
  const [body = "", status] = stdout.trim().split("\n");
  expect(status).toBe("201");
  await reaches((JSON.parse(body) as Job).id, { status: "succeeded", result: { order: 17 } });
});

test("a mounted handler runs, in TypeScript as it is", async () => {
  await reaches(await create({ type: "tour.hello", payload: { name: "Ada" } }), {
    status: "succeeded",
    result: { said: "hello Ada" },
  });
});

test("every check of doctor is passed", async () => {
  const { code, stdout, stderr } = await tour.tryCompose(["run", "--rm", "-T", "api", "doctor"]);
  expect([code, stdout.split("\n").filter((line) => /^\s*[✗!×]/u.test(line)), stdout, stderr]).toEqual([
    0,
    [],
    expect.stringContaining("✓"),
    expect.anything(),
  ]);
});

test("a killed worker's job is taken over by another", { timeout: 3 * minutes }, async () => {
  const id = await create({ type: "tour.where" });
  await reaches(id, { status: "running", progress: { note: expect.any(String) } });
  const { note: host } = (await read(id)).progress as { note: string };
  const killed = Date.now();
  await engine.docker(["kill", host]);
  await reaches(id, { status: "succeeded", attempts: 2 }, 2 * minutes);
  const { started_at } = await read(id);
  figures.push(["a killed worker's job runs again after", seconds(Date.parse(started_at ?? "") - killed)]);
  await engine.docker(["start", host]);
});

test("without PostgreSQL it answers 503, and is back soon after it is", { timeout: 4 * minutes }, async () => {
  const id = await only("postgres");
  await engine.docker(["kill", id]);
  const asked = performance.now();
  expect((await ask(api, "POST", "/v1/jobs", { type: "noop" })).status).toBe(503);
  figures.push(["503 without PostgreSQL within", seconds(performance.now() - asked)]);
  expect((await ask(api, "GET", "/livez")).status).toBe(200);
  const started = Date.now();
  await engine.docker(["start", id]);
  const back = await create({ type: "noop" });
  figures.push(["jobs are accepted again, after PostgreSQL's start,", seconds(Date.now() - started)]);
  await reaches(back, { status: "succeeded" });
  await ready(200);
});

test("without Redis jobs only take longer", { timeout: 3 * minutes }, async () => {
  const id = await only("redis");
  await engine.docker(["kill", id]);
  const submitted = Date.now();
  const job = await create({ type: "noop" });
  await reaches(job, { status: "succeeded" });
  const { finished_at } = await read(job);
  figures.push(["a job without Redis takes", seconds(Date.parse(finished_at ?? "") - submitted)]);
  await engine.docker(["start", id]);
  await eventually(async () => expect((await ask(api, "GET", "/readyz")).body).toMatchObject({ status: "ok" }), {
    timeout_ms: minutes,
  });
});

test("with the profile of the pooler everything goes through a PgBouncer", { timeout: 10 * minutes }, async () => {
  const behind = composeOf(engine, folder, { ...settings, COMPOSE_PROFILES: "pooler", DATABASE_HOST: "pooler:6432" });
  await behind.compose(["up", "-d", "--build", "--scale", "worker=3", "--scale", "api=2"], 8 * minutes);
  api = await behind.urlOf("api", 8_000);
  await ready(200, 2 * minutes);
  await reaches(await create({ type: "tour.hello", payload: { name: "pooler" } }), { status: "succeeded" });
  const pools = await engine.docker([
    "exec",
    "-e",
    "PGPASSWORD=tour",
    ...(await behind.containersOf("pooler")),
    "psql",
    "-h",
    "127.0.0.1",
    "-p",
    "6432",
    "-U",
    "atlasqueue",
    "-tAc",
    "SHOW CLIENTS",
    "pgbouncer",
  ]);
  for (const name of ["atlasqueue-api", "atlasqueue-worker"]) expect(pools).toContain(name);
  await behind.compose(["rm", "--stop", "--force", "pooler"]);
});

test("docker compose stop drains, and every program ends with 0", { timeout: 3 * minutes }, async () => {
  const stopping = Date.now();
  await tour.compose(["stop"]);
  figures.push(["stop", seconds(Date.now() - stopping)]);
  for (const service of ["api", "worker", "migrate"])
    for (const id of await tour.containersOf(service, true))
      expect([
        service,
        (await engine.docker(["inspect", "-f", "{{.State.ExitCode}} {{.State.OOMKilled}}", id])).trim(),
      ]).toEqual([service, "0 false"]);
});
