import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Explanation, Job, OpenQueueProvisioned, SubmitJobInput, WorkerList } from "@atlasqueue/contract";
import { connectDatabase } from "@atlasqueue/core";
import { createDatabase, eventually, postgresUrl, spawnProcess } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { runCli } from "../../test/run-cli.ts";
import { dataFolder, mainFile, runStart, startEnv, succeeds } from "../../test/run-start.ts";

const run = promisify(execFile);

let folder: ReturnType<typeof dataFolder>;
beforeEach(() => (folder = dataFolder()));
afterEach(() => folder.remove());

const postmasterFile = () => join(folder.path, "postgres", "postmaster.pid");

test("the pasted curl line makes a job, and a second start finds the first's jobs", { tags: ["slow"] }, async () => {
  const first = await runStart(startEnv(folder.path));
  expect(first.banner.join("\n")).toContain(join(folder.path, "postgres"));
  const curl = first.banner.find((line) => line.trim().startsWith("curl ")) ?? "";
  const { stdout } = await run("sh", ["-c", curl]);
  const job = JSON.parse(stdout) as { id: string; status: string };
  await succeeds(first, job.id);
  const again = JSON.parse((await run("sh", ["-c", curl])).stdout) as { id: string };
  expect(again.id).toBe(job.id);

  const later = await first.submit({ type: "noop", delay_seconds: 1.5 });
  first.process.kill("SIGTERM");
  expect(await first.process.waitForExit()).toEqual({ code: 0, signal: null });
  expect(first.process.errorLines).toEqual([]);
  expect(existsSync(postmasterFile())).toBe(false);

  const second = await runStart(startEnv(folder.path));
  expect(await second.job(job.id)).toMatchObject({ status: "succeeded", result: { hello: "world" } });
  await succeeds(second, later);
  second.process.kill("SIGINT");
  expect(await second.process.waitForExit()).toEqual({ code: 0, signal: null });
});

test("doctor, tokens and seed find the servers of the start in the same folder", { tags: ["slow"] }, async () => {
  const nothing = await runCli(["doctor"], startEnv(folder.path));
  expect(nothing).toMatchObject({ code: 1, stdout: "" });
  expect(nothing.stderr).toBe(
    `DATABASE_URL is not set, and nothing was ever started in ${folder.path}: start a system first\n`,
  );
  await runStart(startEnv(folder.path));
  const { code, stdout } = await runCli(["doctor"], startEnv(folder.path));
  expect(stdout).toMatch(/✓ Redis/);
  expect(code).toBe(0);
  const made = await runCli(["tokens", "create", "--name", "first", "--scopes", "read"], startEnv(folder.path));
  expect(made.stdout).toMatch(/^aq_\S+\n$/);
});

test("with tokens, a provisioned tenant's jobs run, and it sees on which worker", { tags: ["nightly"] }, async () => {
  const ADMIN_SECRET = "correct horse battery";
  const tokens = { AUTH: "required", ADMIN_SECRET, WORKER_SHUTDOWN_SECONDS: "0" };
  const { api_url } = await runStart({ ...startEnv(folder.path), DATABASE_URL: await emptyDatabase(), ...tokens });
  const ask = async <T>(path: string, headers: Record<string, string>, body?: object): Promise<T> => {
    const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
    const answer = await fetch(api_url + path, {
      headers: { "content-type": "application/json", ...headers },
      ...sent,
    });
    return (await answer.json()) as T;
  };
  const email = "tenant@example.com";
  const made = await ask<OpenQueueProvisioned>("/admin/provision", { "x-admin-secret": ADMIN_SECRET }, { email });
  const authorization = `Bearer ${made.token}`;
  const submit = async (key: string, job: SubmitJobInput) =>
    (await ask<Job>("/v1/jobs", { authorization, "idempotency-key": key }, job)).id;
  const why = async (id: string) =>
    (await ask<Explanation>(`/v1/jobs/${id}/explain`, { authorization })).reasons.map(({ code }) => code);

  const slow = await submit("slow", { type: "demo.sleep", payload: { ms: 60_000 } });
  await eventually(async () => expect(await why(slow)).toEqual(["running"]), { timeout_ms: 20_000 });
  const { worker_id } = await ask<Job>(`/v1/jobs/${slow}`, { authorization });
  await eventually(async () => {
    const { items } = await ask<WorkerList>("/v1/workers", { authorization });
    expect(items).toEqual([
      expect.objectContaining({ id: worker_id, queues: ["default"], state: "running", active: 1 }),
    ]);
  });

  expect(await why(await submit("unserved", { type: "noop", queue: "unserved" }))).toContain("no_worker");
  const quick = await submit("quick", { type: "noop" });
  await eventually(async () => expect(await why(quick)).toEqual(["succeeded"]), { timeout_ms: 20_000 });
});

test("a SIGTERM in the middle of starting stops what was started", { tags: ["nightly"] }, async () => {
  const starting = await spawnProcess(mainFile, { args: ["start"], env: startEnv(folder.path) });
  await eventually(() => existsSync(join(folder.path, "postgres", "atlasqueue.owner")));
  starting.kill("SIGTERM");
  expect(await starting.waitForExit(20_000)).toEqual({ code: 0, signal: null });
  expect(starting.lines).toEqual([]);
  expect(existsSync(postmasterFile())).toBe(false);
});

test("a SIGTERM ends a start whose handlers never load, worker processes included", { tags: ["nightly"] }, async () => {
  const loading = join(folder.path, "loading");
  const starting = await spawnProcess(mainFile, {
    args: ["start"],
    env: {
      ...startEnv(folder.path),
      DATABASE_URL: await emptyDatabase(),
      PATH: "/nonexistent",
      WORKER_HANDLERS: fileURLToPath(new URL("../../test/endless-handlers.ts", import.meta.url)),
      LOADING_FILE: loading,
    },
  });
  await eventually(() => existsSync(loading), { timeout_ms: 60_000 });
  starting.kill("SIGTERM");
  expect(await starting.waitForExit(30_000)).toEqual({ code: 0, signal: null });
  expect(starting.lines.filter((line) => !line.startsWith("{"))).toEqual([]);
});

test("a SIGTERM ends a start whose migration waits for another process's", { tags: ["nightly"] }, async () => {
  const url = await emptyDatabase();
  const other = connectDatabase({ url, connectionsMax: 1, timeoutMs: 15_000 });
  onTestFinished(() => other.close());
  await other.sql.begin(async (migrating) => {
    await migrating.unsafe(`SELECT pg_advisory_xact_lock(${0x41746c617351})`);
    const starting = await spawnProcess(mainFile, {
      args: ["start"],
      env: { ...startEnv(folder.path), DATABASE_URL: url, PATH: "/nonexistent" },
    });
    await starting.waitForLine("another process is migrating this database");
    starting.kill("SIGTERM");
    expect(await starting.waitForExit()).toEqual({ code: 0, signal: null });
    expect(starting.errorLines).toEqual([]);
  });
});

/** An unmigrated database on the run's server. */
async function emptyDatabase(): Promise<string> {
  const created = await createDatabase(postgresUrl());
  onTestFinished(() => created.drop());
  return created.url;
}
