import { pause } from "@atlasqueue/runtime";
import type { Handle } from "./handle.ts";
import type { WaitOptions } from "./waits.ts";

/** What the handle's job results in. */
export type ResultOf<H> = H extends Handle<infer Result> ? Result : never;
type Handles = readonly Handle<unknown>[];
type Results<H extends Handles> = { -readonly [At in keyof H]: ResultOf<H[At]> };
type ResultsOrErrors<H extends Handles> = { -readonly [At in keyof H]: ResultOf<H[At]> | Error };

/**
 * The results of many jobs, in the order of the handles. Rejects with the first failure, like `Promise.all`, and stops
 * waiting for the others; with `returnErrors` each failure is in its place instead. `timeoutMs` (default a minute)
 * covers all of them together.
 *
 * @example
 * const [user, orders] = await gather([await client.submit(loadUser, { id }), await client.submit(loadOrders, { id })]);
 */
export function gather<const H extends Handles>(
  handles: H,
  options: WaitOptions & { returnErrors: true },
): Promise<ResultsOrErrors<H>>;
export function gather<const H extends Handles>(handles: H, options?: WaitOptions): Promise<Results<H>>;
export async function gather(
  handles: Handles,
  { timeoutMs, signal, returnErrors = false }: WaitOptions & { returnErrors?: boolean } = {},
): Promise<unknown[]> {
  const { ending, stop } = endingOf(signal);
  const results = handles.map((handle) => handle.result({ timeoutMs, signal: ending }));
  if (!returnErrors) return Promise.all(results).finally(stop);
  const settled = await Promise.allSettled(results);
  signal?.throwIfAborted();
  return settled.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason));
}

/** What became of one of many; pending if the wait ended first. */
export type Slot<H = Handle> =
  | { kind: "succeeded"; handle: H; result: ResultOf<H> }
  | { kind: "failed"; handle: H; error: unknown }
  | { kind: "pending"; handle: H };

export type WaitedFor<H = Handle> = {
  /** One for each handle, in their order. */
  slots: Slot<H>[];
  /** The handles of those that succeeded or failed, in order. */
  done: H[];
  /** The others, to wait for again. */
  pending: H[];
};

/**
 * Wait until all of the jobs are final, the first one is, or the first has failed, at most `timeoutMs` (default a
 * minute; Infinity for no limit). Rejects only for the `signal`: what went wrong with a job is in its slot, and slots
 * are still pending when time runs out.
 *
 * @example
 * const { done, pending } = await waitAll(handles, { timeoutMs: 5_000, returnWhen: "first_error" });
 */
export async function waitAll<H extends Handle<unknown>>(
  handles: readonly H[],
  options: WaitOptions & { returnWhen?: "all" | "first" | "first_error" } = {},
): Promise<WaitedFor<H>> {
  const { timeoutMs = 60_000, signal, returnWhen = "all" } = options;
  const slots: Slot<H>[] = handles.map((handle) => ({ kind: "pending", handle }));
  const { ending, stop } = endingOf(signal);
  if (timeoutMs < Infinity) void pause(timeoutMs, ending).then(stop);
  const follow = async (handle: H, at: number): Promise<void> => {
    try {
      // One clock for all: a job that is not final when it runs out is pending, not failed.
      const result = (await handle.result({ timeoutMs: Infinity, signal: ending })) as ResultOf<H>;
      slots[at] = { kind: "succeeded", handle, result };
      if (returnWhen === "first") stop();
    } catch (error) {
      if (ending.aborted) return;
      slots[at] = { kind: "failed", handle, error };
      if (returnWhen !== "all") stop();
    }
  };
  await Promise.all(handles.map(follow));
  // Ends the pause.
  stop();
  signal?.throwIfAborted();
  const of = (kinds: Slot["kind"][]) => slots.filter(({ kind }) => kinds.includes(kind)).map(({ handle }) => handle);
  return { slots, done: of(["succeeded", "failed"]), pending: of(["pending"]) };
}

/** A signal that aborts when the caller's does, or when stopped. */
function endingOf(outer: AbortSignal | undefined) {
  outer?.throwIfAborted();
  const own = new AbortController();
  return { ending: outer ? AbortSignal.any([outer, own.signal]) : own.signal, stop: () => own.abort() };
}
