import { availableParallelism } from "node:os";
import { ParkedError } from "@atlasqueue/contract";
import { openChild, ProcessError, type Child, type HearProcess } from "./child-process.ts";
import type { Answer, SaidOutcome, Task, Word } from "./messages.ts";

export type ChildPoolConfig = {
  /** Default: one per processor. Further jobs wait for one; their timeouts do not run meanwhile. */
  processes_max?: number;
  /** The heap of each; when it is full, only that job fails. Default: Node's own. */
  memory_mb_max?: number;
};

type Run = {
  /**
   * When it aborts with a TimeoutError, the process is killed at once. Otherwise the handler is told, and has a second.
   */
  signal: AbortSignal;
  /** Called when its handler is: neither waiting for a process nor loading its module counts. */
  started(): void;
  hear(word: Word, reply: (ask: number, answer: Answer) => void): void;
};

const idle_ms_max = 30_000;
const grace_ms = 1_000;
const load_ms_max = 30_000;
/** After the system had no room for a process. */
const room_ms = 1_000;

/**
 * Processes for handlers that may hold up their event loop. Each runs one job at a time and is reused; an idle one is
 * ended after a while. None is started before the first job. Not threads: a heap that fills quickly takes the whole
 * process with it, whatever the thread's limits say.
 */
export function createChildPool(
  { processes_max = availableParallelism(), memory_mb_max }: ChildPoolConfig,
  hearProcess: HearProcess,
) {
  const all = new Set<Child>();
  const idle: Child[] = [];
  const endings = new Map<Child, NodeJS.Timeout>();
  const used = new WeakSet<Child>();
  /** Each takes a process, or asks again. */
  const waiting = new Set<(child?: Child) => void>();
  const execArgv = [...process.execArgv, ...(memory_mb_max ? [`--max-old-space-size=${memory_mb_max}`] : [])];
  let runs = 0;
  let closed = false;

  const open = (): Child => {
    let child: Child;
    try {
      child = openChild(execArgv, hearProcess);
    } catch (error) {
      // When memory runs out, that is thrown at once.
      setTimeout(openForNext, room_ms);
      throw error;
    }
    all.add(child);
    child.process.on("error", () => {
      if (child.process.pid !== undefined) return;
      // It will not exit, and no one must wait for that.
      all.delete(child);
      setTimeout(openForNext, room_ms);
    });
    child.process.once("exit", () => {
      all.delete(child);
      takeFromIdle(child);
      openForNext();
    });
    return child;
  };
  const openForNext = (): void => {
    if (!closed && all.size < processes_max) next()?.();
  };
  const takeFromIdle = (child: Child): void => {
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
  const acquire = (signal: AbortSignal): Promise<Child> | Child => {
    const known = idle.at(-1);
    if (known) takeFromIdle(known);
    const child = known ?? (all.size < processes_max ? open() : undefined);
    if (child) return child;
    const given = new Promise<Child | undefined>((resolve, reject) => {
      const give = (one?: Child) => {
        signal.removeEventListener("abort", leave);
        resolve(one);
      };
      const leave = () => {
        waiting.delete(give);
        reject(signal.reason);
      };
      waiting.add(give);
      signal.addEventListener("abort", leave, { once: true });
    });
    return given.then((one) => {
      if (one) return one;
      if (signal.aborted) openForNext();
      signal.throwIfAborted();
      return acquire(signal);
    });
  };
  const release = (child: Child): void => {
    // Its end is on its way to us.
    if (!isAlive(child)) return child.kill();
    const give = next();
    if (give) return give(child);
    child.unref();
    idle.push(child);
    // Out of the list first: between the kill and the exit it must not be handed out.
    const end = () => {
      takeFromIdle(child);
      child.kill();
    };
    endings.set(child, setTimeout(end, idle_ms_max).unref());
  };

  /** One run in one process. `begun` is told when that has taken it up. */
  const runIn = async (child: Child, task: Task, { signal, started, hear }: Run, begun: () => void) => {
    child.ref();
    const run = (runs += 1);
    const { promise, resolve, reject } = Promise.withResolvers<SaidOutcome>();
    let ending: NodeJS.Timeout | undefined;
    const loading = setTimeout(() => {
      begun();
      reject(new ProcessError(`${task.module} was not loaded within ${load_ms_max / 1_000} s`));
      child.kill();
    }, load_ms_max);
    let parked = false;
    const onAbort = () => {
      const reason = signal.reason as Error;
      parked = reason instanceof ParkedError;
      // It hears of that by the answer to its own question.
      if (!parked) child.send({ kind: "abort", run, reason: reason.message });
      ending = setTimeout(child.kill, reason.name === "TimeoutError" ? 0 : grace_ms);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    child.listen({
      hear(message) {
        if (message.run !== run) return;
        const { said } = message;
        begun();
        if (said.kind === "outcome") return resolve(said.outcome);
        if (said.kind !== "begun") return hear(said, (ask, answer) => child.send({ kind: "answer", run, ask, answer }));
        clearTimeout(loading);
        started();
      },
      ended: reject,
    });
    try {
      child.send({ kind: "run", run, task });
      const outcome = await promise.finally(() => child.listen(undefined));
      // One about to be killed takes no other job.
      if (ending === undefined || parked) release(child);
      else child.kill();
      return outcome;
    } finally {
      clearTimeout(ending);
      clearTimeout(loading);
      signal.removeEventListener("abort", onAbort);
    }
  };

  return {
    /**
     * Rejects when the process ended before the handler did. One that was used before may end by what the job before left
     * in it: a job that it has not taken up is given to the next process.
     */
    async run(task: Task, run: Run): Promise<SaidOutcome> {
      for (;;) {
        run.signal.throwIfAborted();
        const child = await acquire(run.signal);
        const isFresh = !used.has(child);
        used.add(child);
        let begun = false;
        try {
          return await runIn(child, task, run, () => (begun = true));
        } catch (error) {
          if (isFresh || begun || !(error instanceof ProcessError)) throw error;
        }
      }
    },
    /** Kill every process, whatever it does. */
    async close(): Promise<void> {
      closed = true;
      for (const ending of endings.values()) clearTimeout(ending);
      const started = [...all].filter(isAlive);
      const gone = started.map((child) => new Promise((resolve) => child.process.once("exit", resolve)));
      for (const child of started) child.kill();
      await Promise.all(gone);
    },
  };
}
export type ChildPool = ReturnType<typeof createChildPool>;

/** As far as we have heard: its exit code comes before its "exit". */
function isAlive({ process: { pid, exitCode, signalCode } }: Child): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}
