import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { processFacts } from "../src/process/process-facts.ts";

type Held = { readonly postgres: number; readonly redis: number; readonly url: string };

/** Runs hold-servers.ts as another process and waits until both servers run under it. */
export async function holdServers(folder: string, ...then: "exit"[]) {
  const script = fileURLToPath(new URL("hold-servers.ts", import.meta.url));
  const child = spawn(process.execPath, [script, folder, ...then], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const held = JSON.parse(line) as Held;
  onTestFinished(() => [held.postgres, held.redis].filter(isRunning).forEach((pid) => process.kill(pid, "SIGKILL")));
  return { ...held, pid: child.pid, exited, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}

export function isRunning(pid: number): boolean {
  return processFacts(pid) !== undefined;
}
