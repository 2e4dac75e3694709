// @module-tag nightly
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
} from "@atlasqueue/harness";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Line } from "../history/line.ts";
import { readHistory } from "../history/read-history.ts";
import { tenants } from "../rig/cast.ts";
import { makeTokens } from "../rig/tokens.ts";
import { kinds, queueNames } from "./kinds.ts";

const minutes = 60_000;
const acts = 600;
const rate = 60;
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
    FAULTS_RATE: String(rate),
  });
  return { submitter, remote };
}

const unfinished = async () =>
  (
    await sql`SELECT status, count(*)::int FROM atlasqueue.jobs WHERE status NOT IN ('succeeded', 'dead', 'cancelled') GROUP BY 1`
  ).length;

async function endsByNonce(): Promise<Map<string, string>> {
  const rows = await sql<
    { nonce: string; status: string }[]
  >`SELECT payload->>'nonce' AS nonce, status FROM atlasqueue.jobs`;
  return new Map(rows.map(({ nonce, status }) => [nonce, status]));
}

/** A caller's row is there exactly when the jobs of its transaction are. */
async function expectBothOrNeither(lines: readonly Line[], ends: ReadonlyMap<string, string>): Promise<void> {
  const rows = new Set((await sql<{ nonce: string }[]>`SELECT nonce FROM caller_rows`).map(({ nonce }) => nonce));
  for (const line of lines)
    if (line.move === "submit" && line.is === "invoke" && line.row !== undefined)
      for (const job of line.jobs) expect([job.nonce, ends.has(job.nonce)]).toEqual([job.nonce, rows.has(line.row)]);
}

/** Not those that only few jobs have: whether a flow adds jobs is drawn, and the draws differ with what is known by then. */
const kindsExpected = kinds.filter((kind) => kind !== "scheduled");
const movesExpected = [
  "cancel",
  "handle",
  "lease",
  "limit",
  "pause",
  "replay",
  "schedule",
  "settle",
  "signal",
  "submit",
];

test(
  "without faults all that was accepted ends as it should, and the history says all of it",
  async () => {
    const { submitter, remote } = await startAll();
    expect(await submitter.waitForExit(3 * minutes)).toEqual({ code: 0, signal: null });
    await eventually(async () => (await unfinished()) === 0, { timeout_ms: 2 * minutes });
    remote.kill("SIGTERM");
    expect(await remote.waitForExit()).toEqual({ code: 0, signal: null });

    const lines = [...readHistory(folder)];
    // A machine that is too busy to answer in time is no fault of ours.
    const explained = /^(it is stored|TimeoutError)/;
    // A worker that is told to end hangs up on its request for jobs, and one whose job has ended on its renewal.
    const hungUp = ({ move, error }: { move: string; error: string }) =>
      ["lease", "renew"].includes(move) && error.startsWith("AbortError");
    const unknown = lines.filter((line) => line.is === "info" && !explained.test(line.error) && !hungUp(line));
    expect(unknown).toEqual([]);
    const done = new Set(lines.filter(({ is }) => is === "ok").map(({ move }) => move));
    expect([...done]).toEqual(expect.arrayContaining(movesExpected));
    const wanted = lines.flatMap((line) => (line.move === "submit" && line.is === "invoke" ? line.jobs : []));
    expect(wanted.map(({ kind }) => kind)).toEqual(expect.arrayContaining(kindsExpected));
    const answers = lines.flatMap((line) => (line.move === "submit" && line.is === "ok" ? line.answers : []));
    const created = new Set(answers.filter((one) => one.created).map(({ nonce }) => nonce));
    const ends = await endsByNonce();
    const wrong = wanted.filter(
      ({ nonce, ends: end }) => created.has(nonce) && end !== "any" && ends.get(nonce) !== end,
    );
    expect(wrong).toEqual([]);
    expect(lines.filter((line) => line.move === "trespass" && line.is === "ok" && line.seen)).toEqual([]);
    await expectBothOrNeither(lines, ends);
  },
  6 * minutes,
);
