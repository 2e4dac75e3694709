import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Identity } from "./identity.ts";

/** A running server, until `exited` resolves (it never rejects). */
export type ServerProcess = {
  readonly pid: number;
  readonly exited: Promise<void>;
  hasExited(): boolean;
  /** Sends a signal; false when the process is gone. */
  signal(signal: NodeJS.Signals): boolean;
  /** Its last lines, for an error message; waits up to 500 ms for the end of its output. */
  lastWords(): Promise<string>;
};

export type SpawnOptions = {
  readonly identity?: Identity | undefined;
  readonly log?: ((line: string) => void) | undefined;
  /** For its standard input: what must not be among its arguments, where anyone may read it. */
  readonly input?: string | undefined;
  /** The signal it gets when our own process exits without having stopped it. */
  readonly signalOnExit: NodeJS.Signals;
};

/** One try at stopping: the signal, and how long to wait before the next. */
export type StopStep = { readonly signal: NodeJS.Signals; readonly wait_ms: number };

const lines_max = 20;

// Ours is not passed on: a PGPORT, PGOPTIONS or unknown locale in the shell would change what these servers do.
const env = { LC_ALL: "C", PATH: "/usr/local/bin:/usr/bin:/bin" };

/** Starts a server in its own process group: Ctrl-C in a terminal must reach our drain, not the servers. */
export async function spawnServer(
  command: string,
  args: readonly string[],
  { identity, log, input, signalOnExit }: SpawnOptions,
): Promise<ServerProcess> {
  const child = spawn(command, args, {
    ...identity,
    // A user that can't enter our working directory would fail to start there.
    cwd: "/",
    detached: true,
    env,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  // If it ends before reading this, it says why itself.
  child.stdin?.on("error", () => {}).end(input);
  const words: string[] = [];
  const hear = (output: Readable | null) =>
    output &&
    createInterface({ input: output }).on("line", (line) => {
      words.push(line);
      if (words.length > lines_max) words.shift();
      log?.(line);
    });
  hear(child.stdout);
  hear(child.stderr);

  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).on("error", reject));
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} has no process id`);

  const endWithUs = () => {
    child.kill(signalOnExit);
    child.kill("SIGCONT");
  };
  process.once("exit", endWithUs);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exited = new Promise<void>((resolve) =>
    child.once("exit", () => {
      process.off("exit", endWithUs);
      resolve();
    }),
  );
  return {
    pid,
    exited,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    signal: (signal) => child.kill(signal),
    lastWords: async () => {
      await Promise.race([closed, delay(500, undefined, { ref: false })]);
      return words.join("\n");
    },
  };
}

/** Stops a server with ever harsher signals and resolves when it is gone; at once when it already was. */
export async function stopServer(server: ServerProcess, steps: readonly StopStep[]): Promise<void> {
  for (const { signal, wait_ms } of steps) {
    if (server.hasExited()) return;
    server.signal(signal);
    // A paused process reacts only to this and SIGKILL.
    server.signal("SIGCONT");
    await Promise.race([server.exited, delay(wait_ms, undefined, { ref: false })]);
  }
  await server.exited;
}

/** Sends a signal. SIGKILL and SIGQUIT resolve when the process is gone, others as soon as they are sent. */
export async function killServer(server: ServerProcess, signal: NodeJS.Signals): Promise<void> {
  const sent = server.signal(signal);
  if (sent && (signal === "SIGKILL" || signal === "SIGQUIT")) await server.exited;
}

/** Runs a tool to its end and resolves with its output; throws with that when it fails. */
export function runTool(
  command: string,
  args: readonly string[],
  identity: Identity | undefined,
  input = "",
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { ...identity, cwd: "/", env }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} failed: ${(stderr || stdout).trim() || error.message}`));
      else resolve(stdout + stderr);
    });
    child.stdin?.on("error", () => {}).end(input);
  });
}
