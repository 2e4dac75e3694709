import { availableParallelism } from "node:os";
import { childFlags } from "./child-flags.ts";
import { NotStartedError, openChild, ProcessError, type Child, type HearProcess } from "./child-process.ts";
import type { SaidOutcome, Task } from "./messages.ts";
import { runInChild, type Run } from "./run-in-child.ts";
import { createStartRest, type HearStarts } from "./start-rest.ts";

export type ChildPoolConfig = {
  /** Default: one per processor. Further jobs wait for one; their timeouts do not run meanwhile. */
  processesMax?: number;
  /** The heap of each; when it is full, only that job fails. Default: Node's own. */
  memoryMaxMb?: number;
};

const idle_ms_max = 30_000;
/** None that can take a job for less long may be a moment's shortage. */
const without_ms_max = 10_000;

/**
 * Processes for handlers that may hold up their event loop. Each runs one job at a time and is reused; an idle one is
 * ended after a while. None is started before the first job. Not threads: a heap that fills quickly takes the whole
 * process with it, whatever the thread's limits say.
 */
export function createChildPool(
  { processesMax = availableParallelism(), memoryMaxMb }: ChildPoolConfig,
  { output, ...hear }: { output: HearProcess } & HearStarts,
) {
  const all = new Set<Child>();
  /** With what ends each after a while. */
  const idle = new Map<Child, NodeJS.Timeout>();
  const used = new WeakSet<Child>();
  /** Each takes a process, or asks again. */
  const waiting = new Set<(child?: Child) => void>();
  const execArgv = [...childFlags(process.execArgv), ...(memoryMaxMb ? [`--max-old-space-size=${memoryMaxMb}`] : [])];
  let runs = 0;
  let closed = false;
  /** The one that is tried after a rest. */
  let tried: Child | undefined;

  const starts = createStartRest(() => {
    try {
      // Without a job: until one could be started, none need be taken for it.
      tried = open();
    } catch {
      // That was reported.
    }
  }, hear);
  const open = (): Child => {
    try {
      const child = openChild(execArgv, {
        output,
        up() {
          const failed = starts.failing();
          starts.succeeded();
          if (child === tried) release(child);
          if (failed) askAgain();
        },
        notStarted: starts.failed,
        gone() {
          all.delete(child);
          askAgain();
        },
      });
      all.add(child);
      child.process.once("exit", () => takeFromIdle(child));
      return child;
    } catch (error) {
      if (error instanceof NotStartedError) starts.failed(error);
      askAgain();
      throw error;
    }
  };
  const askAgain = (): void => {
    const asking = [...waiting];
    waiting.clear();
    for (const ask of asking) ask();
  };
  const takeFromIdle = (child: Child): void => {
    clearTimeout(idle.get(child));
    idle.delete(child);
  };
  const next = () => {
    const [first] = waiting;
    if (first) waiting.delete(first);
    return first;
  };
  const acquire = (signal: AbortSignal): Promise<Child> | Child => {
    const known = [...idle.keys()].at(-1);
    if (known) {
      takeFromIdle(known);
      return known;
    }
    if (closed) throw new NotStartedError("the worker has stopped");
    const failing = starts.failing();
    if (!failing && all.size < processesMax) return open();
    // Nobody knows for how long; other workers may have room.
    if (failing && all.size === 0) throw failing;
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
    // Out of the list first: between the kill and the exit it must not be handed out.
    const end = () => {
      takeFromIdle(child);
      child.kill();
    };
    idle.set(child, setTimeout(end, idle_ms_max).unref());
  };

  return {
    /**
     * Rejects when the process ended before the handler did. One that was used before may end by what the job before left
     * in it: a job that it has not taken up is given to the next process. So is that of one that did not start, as long
     * as there are others; a NotStartedError says that there are none.
     */
    async run(task: Task, given: Run): Promise<SaidOutcome> {
      for (;;) {
        given.signal.throwIfAborted();
        const child = await acquire(given.signal);
        const isFresh = !used.has(child);
        used.add(child);
        let begun = false;
        try {
          runs += 1;
          return await runInChild(child, task, given, {
            run: runs,
            begun: () => void (begun = true),
            released: release,
          });
        } catch (error) {
          if (error instanceof NotStartedError) continue;
          if (isFresh || begun || !(error instanceof ProcessError)) throw error;
        }
      }
    },
    /** Whether none can be started for now. */
    startsFail: () => starts.failing() !== undefined,
    /** How long there has been no process, as none could be started; 0 while all is well. */
    withoutProcessForMs(): number {
      const failing_ms = starts.failingForMs();
      return failing_ms > without_ms_max && ![...all].some((child) => child.isUp()) ? failing_ms : 0;
    },
    /** Kill every process, whatever it does. */
    async close(): Promise<void> {
      closed = true;
      starts.stop();
      for (const ending of idle.values()) clearTimeout(ending);
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
