import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Job } from "@atlasqueue/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { testBackups } from "./containers/backups.ts";
import { testMonitoring } from "./containers/monitoring.ts";
import { run } from "./harness/run.ts";
import { startTour, type Tour } from "./containers/tour.ts";

// The tour that an operator takes, in its order: each test goes on where the one before it ended.
const minutes = 60_000;
const mib = 1_048_576;
/** Kept for the next run if it is named: its images take minutes to make. */
const kept = process.env["CONTAINERS_FOLDER"];
const folder = kept ?? mkdtempSync(join(tmpdir(), "atlasqueue-containers-"));

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

let tour: Tour;
beforeAll(async () => {
  tour = await startTour(folder);
}, 30 * minutes);

afterAll(async () => {
  await tour?.stop();
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  const figures = tour?.figures ?? [];
  const width = Math.max(...figures.map(([what]) => what.length));
  process.stdout.write(`\n${figures.map(([what, is]) => `| ${what.padEnd(width)} | ${is} |`).join("\n")}\n`);
}, 5 * minutes);

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const only = async (service: string) => (await tour.compose.containersOf(service))[0] ?? "";

test(
  "docker compose up builds it and comes up healthy, with three workers and two APIs",
  { timeout: 20 * minutes },
  async () => {
    const building = Date.now();
    await tour.compose.compose(["build"], 15 * minutes);
    tour.figures.push(["build", seconds(Date.now() - building)]);
    const starting = Date.now();
    await tour.compose.compose(["up", "-d", "--build", "--scale", "worker=3", "--scale", "api=2"], 5 * minutes);
    await eventually(
      async () => {
        for (const [service, count] of [
          ["api", 2],
          ["worker", 3],
          ["postgres", 1],
          ["redis", 1],
        ] as const)
          expect([service, await tour.states(service)]).toEqual([
            service,
            Array.from({ length: count }, () => "running healthy"),
          ]);
      },
      { timeout_ms: 3 * minutes },
    );
    tour.figures.push(["up until all are healthy", seconds(Date.now() - starting)]);
    await tour.findApi();
  },
);

test("our image adds at most 60 MB to its base", async () => {
  const size = async (image: string) =>
    Number(await tour.engine.docker(["image", "inspect", "-f", "{{.Size}}", image]));
  const added = (await size("atlasqueue")) - (await size("node:24-slim"));
  tour.figures.push(["image over its base", `${(added / 1e6).toFixed(1)} MB`]);
  expect(added).toBeLessThan(60e6);
});

test("the image says which packages are in it", async () => {
  const inside = async (script: string) =>
    JSON.parse(
      await tour.engine.docker(["run", "--rm", "--entrypoint", "node", "atlasqueue", "-e", script]),
    ) as unknown;
  const told = (await inside(listTold)) as string[];
  const installed = (await inside(listInstalled)) as string[];
  tour.figures.push(["packages in the image's SBOM", String(told.length)]);
  expect(installed.length).toBeGreaterThan(50);
  expect(installed.filter((each) => !told.includes(each))).toEqual([]);
  const others = told.filter((each) => !each.startsWith("@atlasqueue/"));
  expect(others.filter((each) => !installed.includes(each))).toEqual([]);
});

test("a program writes nothing but temporary files, is nobody special, and starts in less than 200 MB", async () => {
  for (const service of ["api", "worker"]) {
    const [id = ""] = await tour.compose.containersOf(service);
    const [host] = JSON.parse(await tour.engine.docker(["inspect", id])) as { HostConfig: Record<string, unknown> }[];
    expect(host?.HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ["ALL"], Memory: 256 * mib });
    const inside = (script: string) => tour.engine.docker(["exec", id, "bash", "-c", script]);
    expect(await inside("touch /app/x 2>&1 || touch /tmp/x && echo no")).toMatch(/Read-only file system\s+no/);
    expect(await inside("id -u; grep CapEff /proc/1/status; cat /proc/1/comm")).toMatch(/^1000\nCapEff:\s0+\ntini\n/);
    const used = Number(
      await inside(
        "cat /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory/memory.usage_in_bytes 2>/dev/null | head -1",
      ),
    );
    tour.figures.push([
      `memory of ${service === "api" ? "an API" : "a worker"} after its start`,
      `${Math.round(used / mib)} MiB`,
    ]);
    expect(used).toBeLessThan(200 * mib);
  }
});

test("the README's curl submits a job that a worker runs", async () => {
  const readme = readFileSync(fileURLToPath(new URL("../../../README.md", import.meta.url)), "utf8");
  const [, command = ""] = /```sh\n(curl -sS -w[^`]*?order-17[^`]*?)```/.exec(readme) ?? [];
  const { stdout } = await run("sh", ["-c", command.replaceAll("http://127.0.0.1:8000", tour.api())]);
  const [body = "", status] = stdout.trim().split("\n");
  expect(status).toBe("201");
  await tour.reaches((JSON.parse(body) as Job).id, { status: "succeeded", result: { order: 17 } });
});

test("a mounted handler runs, in TypeScript as it is", async () => {
  await tour.reaches(await tour.create({ type: "tour.hello", payload: { name: "Ada" } }), {
    status: "succeeded",
    result: { said: "hello Ada" },
  });
});

test("every check of doctor is passed", async () => {
  const { code, stdout, stderr } = await tour.compose.tryCompose(["run", "--rm", "-T", "api", "doctor"]);
  expect([code, stdout.split("\n").filter((line) => /^\s*[✗!×]/u.test(line)), stdout, stderr]).toEqual([
    0,
    [],
    expect.stringContaining("✓"),
    expect.anything(),
  ]);
});

test("a killed worker's job is taken over by another", { timeout: 3 * minutes }, async () => {
  const id = await tour.create({ type: "tour.where" });
  await tour.reaches(id, { status: "running", progress: { note: expect.any(String) } });
  const { note: host } = (await tour.read(id)).progress as { note: string };
  const killed = Date.now();
  await tour.engine.docker(["kill", host]);
  await tour.reaches(id, { status: "succeeded", attempts: 2 }, 2 * minutes);
  const { started_at } = await tour.read(id);
  tour.figures.push(["a killed worker's job runs again after", seconds(Date.parse(started_at ?? "") - killed)]);
  await tour.engine.docker(["start", host]);
});

test("without PostgreSQL it answers 503, and is back soon after it is", { timeout: 4 * minutes }, async () => {
  const id = await only("postgres");
  await tour.engine.docker(["kill", id]);
  const asked = performance.now();
  expect((await tour.ask("POST", "/v1/jobs", { type: "noop" })).status).toBe(503);
  tour.figures.push(["503 without PostgreSQL within", seconds(performance.now() - asked)]);
  expect((await tour.ask("GET", "/livez")).status).toBe(200);
  const started = Date.now();
  await tour.engine.docker(["start", id]);
  const back = await tour.create({ type: "noop" });
  tour.figures.push(["jobs are accepted again, after PostgreSQL's start,", seconds(Date.now() - started)]);
  await tour.reaches(back, { status: "succeeded" });
  await tour.ready(200);
});

test("without Redis jobs only take longer", { timeout: 3 * minutes }, async () => {
  const id = await only("redis");
  await tour.engine.docker(["kill", id]);
  const submitted = Date.now();
  const job = await tour.create({ type: "noop" });
  await tour.reaches(job, { status: "succeeded" });
  const { finished_at } = await tour.read(job);
  tour.figures.push(["a job without Redis takes", seconds(Date.parse(finished_at ?? "") - submitted)]);
  await tour.engine.docker(["start", id]);
  await eventually(async () => expect((await tour.ask("GET", "/readyz")).body).toMatchObject({ status: "ok" }), {
    timeout_ms: minutes,
  });
});

testMonitoring(() => tour);

testBackups(() => tour);

test("with the profile of the pooler everything goes through a PgBouncer", { timeout: 10 * minutes }, async () => {
  const behind = tour.composeWith({ COMPOSE_PROFILES: "pooler", DATABASE_HOST: "pooler:6432" });
  await behind.compose(["up", "-d", "--build", "--scale", "worker=3", "--scale", "api=2"], 8 * minutes);
  await tour.findApi();
  await tour.ready(200, 2 * minutes);
  await tour.reaches(await tour.create({ type: "tour.hello", payload: { name: "pooler" } }), { status: "succeeded" });
  const pools = await tour.engine.docker([
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
});

test("docker compose stop drains, and every program ends with 0", { timeout: 3 * minutes }, async () => {
  const stopping = Date.now();
  await tour.compose.compose(["stop"]);
  tour.figures.push(["stop", seconds(Date.now() - stopping)]);
  for (const service of ["api", "worker", "migrate"])
    for (const id of await tour.compose.containersOf(service, true))
      expect([
        service,
        (await tour.engine.docker(["inspect", "-f", "{{.State.ExitCode}} {{.State.OOMKilled}}", id])).trim(),
      ]).toEqual([service, "0 false"]);
});
