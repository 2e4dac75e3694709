import { readApiConfig, startApi, type RunningApi } from "@atlasqueue/api";
import { createClient, type Client } from "@atlasqueue/client";
import { createLogger } from "@atlasqueue/core";
import { testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { vi } from "vitest";
import { createProgram } from "../src/program.ts";
import { serversOf } from "./run-start.ts";

export type Said = { code: number; stdout: string; stderr: string };

/** What `process.exit` throws, so that it ends the command and not the tests. */
class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`the command ended with ${code}`);
    this.code = code;
  }
}

let before: Promise<unknown> = Promise.resolve();

/**
 * Runs the command in this process, without a terminal, as most of its time as a process is its start. Two at once take
 * turns, as there is one stdout. That a process reads its settings and ends with its code is in `main.test.ts`.
 *
 * @example
 * expect(await runCli(["queues", "list"], { ATLASQUEUE_URL: api.url })).toMatchObject({ code: 0 });
 */
export function runCli(words: readonly string[], env: Record<string, string | undefined> = {}): Promise<Said> {
  const running = before.then(() => runAlone(words, { ...process.env, ...env }));
  before = running.catch(() => {});
  return running;
}

async function runAlone(words: readonly string[], env: Record<string, string | undefined>): Promise<Said> {
  const said: Said = { code: 0, stdout: "", stderr: "" };
  const spies = [
    ...(["stdout", "stderr"] as const).map((stream) =>
      vi.spyOn(process[stream], "write").mockImplementation((text) => {
        said[stream] += String(text);
        return true;
      }),
    ),
    vi.spyOn(console, "log").mockImplementation((text) => void (said.stdout += `${String(text)}\n`)),
    vi.spyOn(process, "exit").mockImplementation((code) => {
      throw new Exit(Number(code ?? 0));
    }),
  ];
  const { exitCode } = process;
  try {
    await (await createProgram(env, words)).parseAsync(words, { from: "user" });
    said.code = Number(process.exitCode ?? 0);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    said.code = error.code;
  } finally {
    process.exitCode = exitCode;
    for (const spy of spies) spy.mockRestore();
  }
  return said;
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

/** An API that logs nothing, on a free port. */
export const silentApi = (env: Record<string, string | undefined>): Promise<RunningApi> =>
  startApi(readApiConfig({ ...env, API_PORT: "0" }), { logger: createLogger("silent", "test") });

/** A real API on its own database, with the command pointed at it. */
export async function cliSystem(): Promise<CliSystem> {
  const store = await testDatabase();
  const servers = serversOf(store.url);
  const api = await silentApi(servers);
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

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");

/** What a command said, in the form of a process that was started. */
export function inLines({ code, stdout, stderr }: Said) {
  const [first = ""] = linesOf(stdout);
  const result = first.startsWith("{") ? (JSON.parse(first) as Record<string, unknown>) : undefined;
  return { code: code as number | null, stdout: linesOf(stdout), stderr: linesOf(stderr), result };
}
