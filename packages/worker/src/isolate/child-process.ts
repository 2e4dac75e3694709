import { spawn, type ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { Socket } from "node:net";
import { openChannel, type Channel } from "@atlasqueue/program/process-channel";
import type { OutputStream } from "../output/job-output.ts";
import { readLines } from "../output/read-lines.ts";
import { fromChild, type FromChild, type ToChild } from "./messages.ts";

export type Child = ReturnType<typeof openChild>;
type Ears = {
  hear(message: FromChild): void;
  /** The process has ended, or can no longer be understood and was killed. */
  ended(why: ProcessError | NotStartedError): void;
};
/** What becomes of a process, whichever job it has. */
export type ChildHooks = {
  output: HearProcess;
  /** It can take jobs. */
  up(): void;
  /** It never will. */
  notStarted(why: NotStartedError): void;
  /** It has ended, and all that it said was heard. */
  gone(): void;
};
/** What a process wrote past its handler's `console`: while starting, from a native library, while dying. */
export type HearProcess = (pid: number | undefined, stream: OutputStream, line: string) => void;

/** A process ended before its handler did: `process.exit`, out of memory, an uncaught error. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";
}

/**
 * A process could not be started, or ended before any of a program's own code was loaded into it: no handler has seen a
 * job that was meant for it.
 */
export class NotStartedError extends Error {
  override readonly name = "NotStartedError";
}

const start_ms_max = 30_000;
/** A process that closes its channel is about to end, or never will. */
const exit_ms_max = 1_000;

// The source runs as .ts in the workspace and as .js when published.
const file = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url));

/**
 * A process that runs handlers, and everything its worker hears from it: none of it is trusted, and none can end the
 * worker. Throws a NotStartedError when the system has not even room to try.
 */
export function openChild(execArgv: readonly string[], hooks: ChildHooks) {
  const child = start(execArgv);
  let ears: Ears | undefined;
  let end: ProcessError | NotStartedError | undefined;
  let isUp = false;
  let unneeded = false;
  let leaving: NodeJS.Timeout | undefined;

  const ended = (why: string): void => {
    clearTimeout(leaving);
    clearTimeout(starting);
    if (end) return;
    end = isUp ? new ProcessError(why) : new NotStartedError(why);
    if (end instanceof NotStartedError && !unneeded) hooks.notStarted(end);
    ears?.ended(end);
  };
  const kill = (why?: string): void => {
    if (why === undefined) unneeded = true;
    else ended(why);
    child.kill("SIGKILL");
  };
  const starting = setTimeout(
    () => kill(`the handler's process did not start within ${start_ms_max / 1_000} s`),
    start_ms_max,
  );
  const up = () => {
    clearTimeout(starting);
    if (isUp || end) return;
    isUp = true;
    hooks.up();
  };
  const foul = () => kill("the handler's process wrote to its worker's channel");
  // Its last output may still be on its way; a process it started may hold its pipes forever.
  child.once("exit", (code, by) => {
    const tell = () => {
      child.off("close", tell);
      ended(endOf(code, by));
      hooks.gone();
    };
    clearTimeout(leaving);
    leaving = setTimeout(tell, exit_ms_max);
    child.once("close", tell);
  });
  child.on("error", (error) => {
    ended(error.message);
    // It was never started, so it will not exit: the system has no room for another process.
    if (child.pid === undefined) hooks.gone();
  });

  // No pipes, if there was no room for them.
  const pipes = child.stdio as (Duplex | null)[] | undefined;
  const [, stdout, stderr, pipe] = pipes ?? [];
  if (stdout) readLines(stdout, (line) => hooks.output(child.pid, "stdout", line));
  if (stderr) readLines(stderr, (line) => hooks.output(child.pid, "stderr", line));
  const channel: Channel | null | undefined =
    pipe &&
    openChannel(pipe, {
      hear(heard) {
        const message = fromChild.safeParse(heard);
        if (!message.success) foul();
        else if ("up" in message.data) up();
        else ears?.hear(message.data);
      },
      closed() {
        const give = () => kill("the handler's process closed its worker's channel");
        leaving ??= setTimeout(give, exit_ms_max);
      },
    });

  const sockets = [stdout, stderr].filter((one) => one instanceof Socket);
  return {
    process: child,
    send: (message: ToChild): void => channel?.send(message),
    /** One at a time; undefined stops listening. */
    listen(given: Ears | undefined): void {
      ears = given;
      if (end) given?.ended(end);
    },
    /** For what reason; without one, as nobody needs it any more. */
    kill,
    /** Whether it has said that it can take jobs. */
    isUp: () => isUp,
    ref(): void {
      child.ref();
      channel?.ref();
    },
    unref(): void {
      child.unref();
      channel?.unref();
      for (const socket of sockets) socket.unref();
    },
  };
}

function start(execArgv: readonly string[]): ChildProcess {
  try {
    return spawn(process.execPath, [...execArgv, file], { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  } catch (error) {
    // When memory runs out, that is thrown at once.
    throw new NotStartedError(String(error));
  }
}

function endOf(code: number | null, by: NodeJS.Signals | null): string {
  if (by === null) return `the handler's process exited with code ${code}`;
  return `the handler's process was ended by ${by}${by === "SIGABRT" ? ", as when its memory is full" : ""}`;
}
