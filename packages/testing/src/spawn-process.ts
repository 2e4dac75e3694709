import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { onTestFinished, TestRunner } from "vitest";
import { eventually } from "./eventually.ts";

export type SpawnProcessOptions = {
  readonly args?: readonly string[] | undefined;
  /** Added to our own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly cwd?: string | undefined;
  /** A command that runs it, such as `["unshare", "-n"]`. */
  readonly under?: readonly string[] | undefined;
  /** What it reads; nothing by default. A socket that this process has not read from. */
  readonly stdin?: Socket | undefined;
};

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type SpawnedProcess = {
  readonly pid: number;
  /** What it wrote to stdout so far, line by line. */
  readonly lines: readonly string[];
  /** The lines that are JSON objects, parsed. */
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** What it wrote to stderr so far, line by line. */
  readonly errorLines: readonly string[];
  /** The first line, past or future, on stdout or stderr, that contains the text or matches. Throws after 60 s. */
  waitForLine(pattern: string | RegExp, timeout_ms?: number): Promise<string>;
  /** Resolves when it is gone and all its output has been read. Throws after 60 s. */
  waitForExit(timeout_ms?: number): Promise<Exit>;
  /** Default SIGTERM; false when it is gone. */
  kill(signal?: NodeJS.Signals): boolean;
  /** SIGKILL, unless it is gone; resolves when it is. */
  stop(): Promise<void>;
};

const wait_ms = 60_000;
const said_lines_max = 20;

/**
 * Runs a TypeScript or JavaScript file in its own process, with the Node that runs the tests. Started inside a test, it
 * is killed when the test ends; anywhere else (beforeAll), stopping it is up to you.
 *
 * @example
 * const worker = await spawnProcess(commandFile, { args: ["worker"], env: { DATABASE_URL: url } });
 * await worker.waitForLine("ready");
 */
export async function spawnProcess(
  file: string,
  { args = [], env = {}, cwd, under = [], stdin }: SpawnProcessOptions = {},
): Promise<SpawnedProcess> {
  const [command = process.execPath, ...words] = [...under, process.execPath, file, ...args];
  const child = spawn(command, words, {
    cwd,
    // The one place in a package that reads process.env: a child needs PATH and HOME like any other.
    env: { ...process.env, ...env },
    stdio: [stdin ?? "ignore", "pipe", "pipe"],
  });
  let exit: Exit | undefined;
  const closed = new Promise<void>((resolve) =>
    child.once("close", (code, signal) => {
      exit = { code, signal };
      resolve();
    }),
  );
  const lines = linesOf(child.stdout);
  const errorLines = linesOf(child.stderr);
  await once(child, "spawn");

  const stop = async () => {
    child.kill("SIGKILL");
    await closed;
  };
  if (TestRunner.getCurrentTest()) onTestFinished(stop);

  const all = () => [...lines, ...errorLines];
  const wait = async <Result>(what: string, look: () => Result | false, timeout_ms: number) => {
    try {
      return await eventually(look, { timeout_ms, interval_ms: 5 });
    } catch {
      const said = all().slice(-said_lines_max).join("\n");
      throw new Error(`${file} ${what} within ${timeout_ms} ms; it said:\n${said}`);
    }
  };
  return {
    pid: child.pid ?? 0,
    lines,
    errorLines,
    get logs() {
      return lines.flatMap(parseObject);
    },
    waitForLine: async (pattern, timeout_ms = wait_ms) => {
      const find = () => all().find((line) => matches(line, pattern));
      // A process that is gone will print no more: no need to wait.
      const line = await wait(`did not say ${pattern}`, () => find() ?? (exit ? undefined : false), timeout_ms);
      if (line !== undefined) return line;
      throw new Error(`${file} exited (${exit?.signal ?? exit?.code}) without saying ${pattern}:\n${all().join("\n")}`);
    },
    waitForExit: (timeout_ms = wait_ms) => wait("did not exit", () => exit ?? false, timeout_ms),
    kill: (signal = "SIGTERM") => child.kill(signal),
    stop,
  };
}

function linesOf(output: Readable): string[] {
  const lines: string[] = [];
  createInterface({ input: output }).on("line", (line) => lines.push(line));
  return lines;
}

function matches(line: string, pattern: string | RegExp): boolean {
  return typeof pattern === "string" ? line.includes(pattern) : line.search(pattern) >= 0;
}

function parseObject(line: string): Record<string, unknown>[] {
  if (!line.startsWith("{")) return [];
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    return [];
  }
}
