import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Outcome } from "../outcome.ts";
import type { FromChild, Task, ToChild, Word } from "./messages.ts";

export type ChildPoolConfig = {
  /** Default: as many as there are processors. Jobs past it wait for one; their timeouts do not run meanwhile. */
  processes_max?: number;
  /** The heap of one; it fails its job alone when that is full. Default: Node's own. */
  memory_mb_max?: number;
};

type Run = {
  /** Aborted with a TimeoutError: the process is killed at once. Else the handler is told, and has a second. */
  signal: AbortSignal;
  /** Called when its handler is: neither the wait for a process nor the loading of its module counts. */
  started(): void;
  hear(word: Word): void;
};

const idle_ms_max = 30_000;
const grace_ms = 1_000;
const load_ms_max = 30_000;

/** A process ended before its handler did: `process.exit`, no memory left, an error that nobody caught. */
class ProcessError extends Error {
  override readonly name = "ProcessError";
}

// The source runs as .ts in the workspace and as .js when published.
const file = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url));

/**
 * Processes for handlers that may hold up their event loop. Each runs one job at a time and is used again; one that
 * idles is ended after a while. None is started before the first job. Not threads: a heap that fills quickly takes the
 * whole process with it, whatever the thread's limits say.
 */
export function createChildPool({ processes_max = availableParallelism(), memory_mb_max }: ChildPoolConfig) {
  const all = new Set<ChildProcess>();
  const idle: ChildProcess[] = [];
  const endings = new Map<ChildProcess, NodeJS.Timeout>();
  const waiting = new Set<(child: ChildProcess) => void>();
  const execArgv = [...process.execArgv, ...(memory_mb_max ? [`--max-old-space-size=${memory_mb_max}`] : [])];
  let runs = 0;
  let closed = false;

  const open = (): ChildProcess => {
    const child = fork(file, { execArgv, serialization: "advanced", stdio: ["ignore", "inherit", "inherit", "ipc"] });
    all.add(child);
    // Whoever runs a job in it listens too; without a listener, an error would end this process.
    child.on("error", () => {
      // It was never started, and will not exit: the system has no room for another process.
      if (child.pid === undefined) all.delete(child);
    });
    child.once("exit", () => {
      all.delete(child);
      takeFromIdle(child);
      if (!closed) next()?.(open());
    });
    return child;
  };
  const takeFromIdle = (child: ChildProcess): void => {
    clearTimeout(endings.get(child));
    endings.delete(child);
    const at = idle.indexOf(child);
    if (at >= 0) idle.splice(at, 1);
  };
  const next = () => {
    const [first] = waiting;
    if (first) waiting.delete(first);
    return first;
  };
  const acquire = (signal: AbortSignal): Promise<ChildProcess> | ChildProcess => {
    const known = idle.at(-1);
    if (known) takeFromIdle(known);
    const child = known ?? (all.size < processes_max ? open() : undefined);
    if (child) return child;
    return new Promise((resolve, reject) => {
      const give = (given: ChildProcess) => {
        signal.removeEventListener("abort", leave);
        resolve(given);
      };
      const leave = () => {
        waiting.delete(give);
        reject(signal.reason);
      };
      waiting.add(give);
      signal.addEventListener("abort", leave, { once: true });
    });
  };
  const release = (child: ChildProcess): void => {
    const give = next();
    if (give) return give(child);
    child.unref();
    child.channel?.unref();
    idle.push(child);
    // Out of the list first: between the kill and the exit nobody may be given it.
    const end = () => {
      takeFromIdle(child);
      child.kill("SIGKILL");
    };
    endings.set(child, setTimeout(end, idle_ms_max).unref());
  };

  return {
    /** Rejects when the process ended before the handler did. */
    async run(task: Task, { signal, started, hear }: Run): Promise<Outcome> {
      signal.throwIfAborted();
      const child = await acquire(signal);
      child.ref();
      child.channel?.ref();
      const run = (runs += 1);
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      let ending: NodeJS.Timeout | undefined;
      // One that is gone already says so by its exit.
      const post = (message: ToChild) => void child.send(message, () => {});
      const loading = setTimeout(() => {
        reject(new ProcessError(`${task.module} was not loaded within ${load_ms_max / 1_000} s`));
        child.kill("SIGKILL");
      }, load_ms_max);
      const onMessage = (message: FromChild) => {
        if (message.run !== run) return;
        if (message.kind === "outcome") return resolve(message.outcome);
        if (message.kind !== "begun") return hear(message);
        clearTimeout(loading);
        started();
      };
      const onExit = (code: number | null, by: NodeJS.Signals | null) => reject(new ProcessError(endOf(code, by)));
      const onError = (error: Error) => reject(new ProcessError(error.message));
      const onAbort = () => {
        const reason = signal.reason as Error;
        post({ kind: "abort", run, reason: reason.message });
        ending = setTimeout(() => child.kill("SIGKILL"), reason.name === "TimeoutError" ? 0 : grace_ms);
      };
      child.on("message", onMessage).on("exit", onExit).on("error", onError);
      signal.addEventListener("abort", onAbort, { once: true });
      if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode);
      try {
        post({ kind: "run", run, task });
        const outcome = await promise;
        // One that is about to be killed takes no other job.
        if (ending === undefined) release(child);
        else child.kill("SIGKILL");
        return outcome;
      } finally {
        clearTimeout(ending);
        clearTimeout(loading);
        child.off("message", onMessage).off("exit", onExit).off("error", onError);
        signal.removeEventListener("abort", onAbort);
      }
    },
    /** Kill every process, whatever it does. */
    async close(): Promise<void> {
      closed = true;
      for (const ending of endings.values()) clearTimeout(ending);
      const started = [...all].filter(
        ({ pid, exitCode, signalCode }) => pid !== undefined && exitCode === null && signalCode === null,
      );
      const gone = started.map((child) => new Promise((resolve) => child.once("exit", resolve)));
      for (const child of started) child.kill("SIGKILL");
      await Promise.all(gone);
    },
  };
}
export type ChildPool = ReturnType<typeof createChildPool>;

function endOf(code: number | null, by: NodeJS.Signals | null): string {
  if (by === null) return `the handler's process exited with code ${code}`;
  return `the handler's process was ended by ${by}${by === "SIGABRT" ? ", as when its memory is full" : ""}`;
}
