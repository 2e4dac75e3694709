import { ParkedError } from "@atlasqueue/contract";
import type { Child } from "./child-process.ts";
import type { Answer, SaidOutcome, Task, Word } from "./messages.ts";

export type Run = {
  /**
   * When it aborts with a TimeoutError, the process is killed at once. Otherwise the handler's signal aborts, and it has a second.
   */
  signal: AbortSignal;
  /** Called when the handler starts. Waiting for a process and loading the module come before. */
  started(): void;
  hear(word: Word, reply: (ask: number, answer: Answer) => void): void;
};

const grace_ms = 1_000;
const load_ms_max = 30_000;

/**
 * One run in one process, which is `released` after it unless it is killed. No other in that process has its number,
 * `run`. `begun` is called when the process has taken it up. Rejects when the process ended before the handler did.
 */
export async function runInChild(
  child: Child,
  task: Task,
  { signal, started, hear }: Run,
  { run, begun, released }: { run: number; begun(): void; released(child: Child): void },
): Promise<SaidOutcome> {
  child.ref();
  const { promise, resolve, reject } = Promise.withResolvers<SaidOutcome>();
  let ending: NodeJS.Timeout | undefined;
  const loading = setTimeout(() => {
    begun();
    child.kill(`${task.module} was not loaded within ${load_ms_max / 1_000} s`);
  }, load_ms_max);
  let parked = false;
  const onAbort = () => {
    const reason = signal.reason as Error;
    parked = reason instanceof ParkedError;
    // The child learns that it is parked from the response to its own request.
    if (!parked) child.send({ kind: "abort", run, reason: reason.message });
    ending = setTimeout(() => child.kill(), reason.name === "TimeoutError" ? 0 : grace_ms);
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
    if (ending === undefined || parked) released(child);
    else child.kill();
    return outcome;
  } finally {
    clearTimeout(ending);
    clearTimeout(loading);
    signal.removeEventListener("abort", onAbort);
  }
}
