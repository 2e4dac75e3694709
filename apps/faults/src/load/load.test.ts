import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateDatabase } from "@atlasqueue/core";
import { freePort } from "@atlasqueue/embedded";
import {
  commandFile,
  eventually,
  ownServers,
  spawnProcess,
  type Servers,
  type SpawnedProcess,
} from "@atlasqueue/testing";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Line } from "../history/line.ts";
import { readHistory } from "../history/read-history.ts";
import { kinds, queueNames } from "./kinds.ts";
import { makeTokens } from "./tokens.ts";

const minutes = 60_000;
const tenants = ["default", "other"];
const acts = 600;
const load = (file: string) => fileURLToPath(new URL(file, import.meta.url));

let folder: string;
let servers: Servers;
let sql: postgres.Sql;
const started: SpawnedProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "load-"));
  servers = await ownServers();
  await migrateDatabase(servers.postgres.url);
  sql = postgres(servers.postgres.url, { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await Promise.all(started.map((one) => one.stop()));
  await sql.end();
  await servers.stop();
  rmSync(folder, { recursive: true });
});

const start = async (file: string, args: string[], env: Record<string, string>) => {
  const program = await spawnProcess(file, { args, env: { ...env, LOG_LEVEL: "warning" } });
  started.push(program);
  return program;
};

/** The programs of a run without its faults: two APIs, a worker and one with handlers in processes, a remote one. */
async function startAll(): Promise<{ submitter: SpawnedProcess; remote: SpawnedProcess }> {
  const common = {
    DATABASE_URL: servers.postgres.url,
    REDIS_URL: servers.redis.url,
    RETRY_BASE_DELAY_SECONDS: "0.1",
  };
  const ours = {
    FAULTS_HISTORY: folder,
    FAULTS_SEED: "7",
    FAULTS_TOKENS: await makeTokens(servers.postgres.url, tenants),
    FAULTS_LEASE_SECONDS: "3",
  };
  const ports = [await freePort(), await freePort()];
  for (const port of ports)
    await start(commandFile, ["api"], { ...common, API_PORT: String(port), AUTH: "required", DASHBOARD: "false" });
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  await eventually(async () => (await Promise.all(urls.map((url) => fetch(`${url}/livez`)))).every(({ ok }) => ok), {
    timeout_ms: minutes,
  });
  const API_URLS = urls.map((url, at) => `api-${at + 1}=${url}`).join(",");
  for (const [name, more] of Object.entries({ "worker-1": {}, "worker-2": { FAULTS_ISOLATE: "true" } }))
    await start(commandFile, ["worker"], {
      ...common,
      ...ours,
      ...more,
      FAULTS_PROCESS: name,
      WORKER_HANDLERS: load("handlers.ts"),
      WORKER_QUEUES: queueNames.join(","),
      WORKER_TENANTS: tenants.join(","),
      WORKER_LEASE_SECONDS: "3",
      WORKER_POLL_TIMEOUT: "1",
      WORKER_METRICS_PORT: "0",
    });
  const remote = await start(load("remote-main.ts"), [], { ...ours, API_URLS, FAULTS_PROCESS: "remote-1" });
  const submitter = await start(load("submit-main.ts"), [], {
    ...common,
    ...ours,
    API_URLS,
    FAULTS_PROCESS: "submitter-1",
    FAULTS_ACTS: String(acts),
  });
  return { submitter, remote };
}

const unfinished = async () =>
  (await sql`SELECT status, count(*)::int FROM jobs WHERE status NOT IN ('succeeded', 'dead', 'cancelled') GROUP BY 1`)
    .length;

test(
  "without faults all that was accepted ends as it should, and the history says all of it",
  async () => {
    const { submitter, remote } = await startAll();
    expect(await submitter.waitForExit(3 * minutes)).toEqual({ code: 0, signal: null });
    await eventually(async () => (await unfinished()) === 0, { timeout_ms: 2 * minutes });
    remote.kill("SIGTERM");
    expect(await remote.waitForExit()).toEqual({ code: 0, signal: null });

    const lines = [...readHistory(folder)];
    console.log(
      Map.groupBy(
        lines,
        (l) =>
          `${l.move} ${l.is} ${"answers" in l ? (l.answers[0]?.refused ?? "") : ""} ${"via" in l ? l.via : ""} ${"error" in l ? l.error.slice(0, 80) : ""} ${"ended" in l ? l.ended : ""}${"answer" in l ? l.answer : ""}`,
      )
        .entries()
        .map(([k, v]) => `${v.length} ${k}`)
        .toArray()
        .sort()
        .join(String.fromCharCode(10)),
    );
    const of = (is: Line["is"]) => lines.filter((line) => line.is === is && line.move !== "handle");
    expect(of("info").filter((line) => !("error" in line && line.error.startsWith("it is stored")))).toEqual([]);
    const wanted = lines.flatMap((line) => (line.move === "submit" && line.is === "invoke" ? line.jobs : []));
    expect(new Set(wanted.map(({ kind }) => kind))).toEqual(
      new Set([...kinds.filter((kind) => kind !== "scheduled"), "spawned"]),
    );
    const answers = lines.flatMap((line) => (line.move === "submit" && line.is === "ok" ? line.answers : []));
    const ends = new Map(
      (
        await sql<{ nonce: string; status: string }[]>`
      SELECT payload->>'nonce' AS nonce, status FROM jobs`
      ).map(({ nonce, status }) => [nonce, status]),
    );
    const created = new Set(answers.filter((one) => one.created).map(({ nonce }) => nonce));
    const wrong = wanted.filter(
      ({ nonce, ends: end }) => created.has(nonce) && end !== "any" && ends.get(nonce) !== end,
    );
    expect(wrong).toEqual([]);
    const rows = new Set((await sql<{ nonce: string }[]>`SELECT nonce FROM caller_rows`).map(({ nonce }) => nonce));
    for (const line of lines)
      if (line.move === "submit" && line.is === "invoke" && line.row !== undefined)
        for (const job of line.jobs) expect([job.nonce, ends.has(job.nonce)]).toEqual([job.nonce, rows.has(line.row)]);
    expect(lines.filter((line) => line.move === "trespass" && line.is === "ok" && line.seen)).toEqual([]);
  },
  6 * minutes,
);
