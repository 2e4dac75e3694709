import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished, TestRunner } from "vitest";
import { eventually, redisUrl, spawnProcess, uniqueKeys, type SpawnedProcess } from "@atlasqueue/harness";

export const mainFile = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** Starting PostgreSQL on an empty folder takes seconds on a busy machine. */
const start_ms_max = 90_000;

/** A temporary folder any user may enter: as root, PostgreSQL runs as another user. */
export function dataFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "atlasqueue-cli-"));
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** What a shell without any of our variables has, with free ports. */
export function startEnv(data_dir: string): Record<string, string | undefined> {
  return {
    DATA_DIR: data_dir,
    API_PORT: "0",
    WORKER_METRICS_PORT: "0",
    DATABASE_URL: undefined,
    REDIS_URL: undefined,
    INIT_CWD: undefined,
    LOG_LEVEL: undefined,
  };
}

/** Settings for this database, and for the run's Redis with keys of their own. */
export function serversOf(DATABASE_URL: string) {
  const { jobsKey, dlqKey } = uniqueKeys();
  return { DATABASE_URL, REDIS_URL: redisUrl(), JOB_QUEUE_KEY: jobsKey, DLQ_KEY: dlqKey };
}

export type Started = {
  process: SpawnedProcess;
  api_url: string;
  /** All the plain lines before the log. */
  banner: string[];
  job(id: string): Promise<{ id: string; status: string; result: unknown }>;
  /** Returns its id. */
  submit(job: object): Promise<string>;
  /** Drains it, so that it stops its own servers; a killed one leaves them to the next start. */
  stop(): Promise<void>;
};

/** `atlasqueue start` in its own process, once it has printed its banner. */
export async function runStart(env: Record<string, string | undefined>, ...options: string[]): Promise<Started> {
  const process = await spawnProcess(mainFile, { args: ["start", ...options], env });
  const line = await process.waitForLine(/^AtlasQueue runs at /, start_ms_max);
  await process.waitForLine("worker_started");
  const api_url = line.replace("AtlasQueue runs at ", "");
  const banner = process.lines.slice(
    0,
    process.lines.findIndex((said) => said.startsWith("{")),
  );
  const job = async (id: string) =>
    (await (await fetch(`${api_url}/v1/jobs/${id}`)).json()) as Awaited<ReturnType<Started["job"]>>;
  const submit = async (wish: object) => {
    const answer = await fetch(`${api_url}/v1/jobs`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
      body: JSON.stringify(wish),
    });
    return ((await answer.json()) as { id: string }).id;
  };
  const stop = async () => {
    process.kill("SIGTERM");
    await process.waitForExit();
  };
  if (TestRunner.getCurrentTest()) onTestFinished(stop);
  return { process, api_url, banner, job, submit, stop };
}

export async function succeeds({ job }: Started, id: string): Promise<void> {
  await eventually(async () => (await job(id)).status === "succeeded", { message: `job ${id} succeeds` });
}
