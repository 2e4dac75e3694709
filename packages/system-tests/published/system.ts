import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { eventually } from "@atlasqueue/harness";
import { onTestFinished } from "vitest";
import { succeed, usersEnvironment } from "./run.ts";

export type System = {
  api_url: string;
  /** What it wrote to stdout so far. */
  lines: readonly string[];
  /** SIGTERM to `atlasqueue` itself; resolves with the exit code of the `npx` that ran it. */
  stop(): Promise<number | null>;
};

const start_ms_max = 90_000;
const stop_ms_max = 60_000;

/** `npx atlasqueue start` in a project, with the Node in `path`, once all of it is running. Ends with the test. */
export async function npxStart(folder: string, path: string, env: Record<string, string>): Promise<System> {
  const npx = spawn("npx", ["atlasqueue", "start"], {
    cwd: folder,
    env: usersEnvironment({ path, env: { API_PORT: "0", WORKER_METRICS_PORT: "0", ...env } }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const output of [npx.stdout, npx.stderr])
    createInterface({ input: output }).on("line", (line) => lines.push(line));
  let code: number | null | undefined;
  const closed = new Promise<number | null>((resolve) =>
    npx.once("close", (ended) => {
      code = ended;
      resolve(ended);
    }),
  );

  const event = (name: string) => lines.find((line) => line.includes(`"event":"${name}"`));
  /** npx starts a shell, which starts the command, whose worker's id is in the log. */
  const commandPid = async (): Promise<number> => {
    const { pid } = JSON.parse(event("process_started") ?? "{}") as { pid?: number };
    const { stdout } = await succeed("ps", ["-o", "ppid=", "-p", String(pid)], { cwd: folder });
    return Number(stdout);
  };
  onTestFinished(async () => {
    if (code !== undefined) return;
    // Whether or not the shell in between passes it on: the system watches whether its npx is alive.
    npx.kill("SIGTERM");
    await closed;
  }, stop_ms_max);

  await eventually(() => code !== undefined || event("worker_started") !== undefined, {
    timeout_ms: start_ms_max,
    message: "the system starts",
  });
  if (code !== undefined) throw new Error(`npx atlasqueue start ended with ${code}:\n${lines.join("\n")}`);
  const banner = /^AtlasQueue runs at (\S+)/m.exec(lines.join("\n"));
  return {
    api_url: banner?.[1] ?? "",
    lines,
    stop: async () => {
      process.kill(await commandPid(), "SIGTERM");
      await eventually(() => code !== undefined, { timeout_ms: stop_ms_max, message: "the system stops" });
      return code ?? null;
    },
  };
}

/** The rows of `jobs list`, as the API returns them. */
export async function jobs(system: System, query: string): Promise<{ id: string; status: string; result: unknown }[]> {
  const answer = await fetch(`${system.api_url}/v1/jobs?${query}`);
  return ((await answer.json()) as { items: { id: string; status: string; result: unknown }[] }).items;
}
