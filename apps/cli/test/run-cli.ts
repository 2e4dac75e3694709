import { execFile } from "node:child_process";
import { readApiConfig, startApi, type RunningApi } from "@atlasqueue/api";
import { createClient, type Client } from "@atlasqueue/client";
import { createLogger } from "@atlasqueue/core";
import { redisUrl, testDatabase, uniqueKeys, type TestDatabase } from "@atlasqueue/harness";
import { mainFile } from "./run-start.ts";

export type Said = { code: number; stdout: string; stderr: string };

/** The command in its own process, without a terminal. */
export function runCli(words: readonly string[], env: Record<string, string | undefined> = {}): Promise<Said> {
  return new Promise((resolve) =>
    execFile(process.execPath, [mainFile, ...words], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    ),
  );
}

export type CliSystem = {
  store: TestDatabase;
  api: RunningApi;
  client: Client;
  /** How the command finds the servers. */
  env: Record<string, string>;
  run(...words: string[]): Promise<Said>;
  close(): Promise<void>;
};

/** A real API on its own database, with the command pointed at it. */
export async function cliSystem(): Promise<CliSystem> {
  const store = await testDatabase();
  const { jobsKey, dlqKey } = uniqueKeys();
  const servers = { DATABASE_URL: store.url, REDIS_URL: redisUrl(), JOB_QUEUE_KEY: jobsKey, DLQ_KEY: dlqKey };
  const config = readApiConfig({ ...servers, API_PORT: "0" });
  const api = await startApi(config, { logger: createLogger("silent", "test") });
  const env = { ...servers, ATLASQUEUE_URL: api.url };
  return {
    store,
    api,
    client: createClient({ url: api.url }),
    env,
    run: (...words) => runCli(words, env),
    close: async () => {
      await api.stop();
      await store.drop();
    },
  };
}
