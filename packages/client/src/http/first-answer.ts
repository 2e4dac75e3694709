import { type AtlasQueueError, isWordOfApi } from "../errors.ts";
import { pause } from "./time.ts";

/** How long one that is sent again keeps its place: it may be swallowed as well. */
const place_ms_max = 2_500;

/** How many calls may be under way more than once, and whoever waits to be. */
export type Repeats = { wait(signal: AbortSignal): Promise<void>; overtook(): void };

/**
 * Places for calls that are sent again: `most()` at a time, the next where one was answered or has waited for 2.5 s. An API that
 * is slow leaves all calls without an answer, and all of them sent again would be what keeps it from answering any. Where a
 * later try is answered before the first, the network has swallowed that, and there is a place more, until one is not answered.
 *
 * @example
 * const repeats = createRepeats(() => Math.max(10, held.size() / 50));
 */
export function createRepeats(most: () => number): Repeats {
  let under_way = 0;
  let more = 0;
  const waiting = new Set<() => void>();
  const admit = () => {
    for (const enter of waiting) {
      if (under_way >= most() + more) return;
      waiting.delete(enter);
      enter();
    }
  };
  const keepPlace = async (signal: AbortSignal) => {
    under_way += 1;
    await pause(place_ms_max, signal);
    if (!signal.aborted) more = 0;
    under_way -= 1;
    admit();
  };
  return {
    /** Resolves with a place, which is free again when the signal aborts or its time is over; or when the signal aborts. */
    wait: (signal) =>
      new Promise((resolve) => {
        const leave = () => {
          waiting.delete(enter);
          resolve();
        };
        const enter = () => {
          signal.removeEventListener("abort", leave);
          void keepPlace(signal);
          resolve();
        };
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", leave, { once: true });
        waiting.add(enter);
        admit();
      }),
    overtook(): void {
      more += 1;
      admit();
    },
  };
}

/**
 * Ask, and ask again while no answer has come, where `repeats` has a place for it. The earlier tries are left to wait: an answer
 * that is merely slow still counts, as it does nowhere if each try is cut short for the sake of the next. The API's first word
 * ends it, a good one or not; what fails without one, or was refused for want of room, when nothing else is under way.
 *
 * @example
 * await firstAnswer((signal) => heartbeat({ signal }), () => againMs(ends_at_ms - performance.now()), repeats, job.gone.signal);
 */
export function firstAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  againInMs: () => number,
  repeats: Repeats,
  signal?: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const abort = () => over.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  let tries = 0;
  let waiting = 0;
  const answered = new Promise<T>((resolve, reject) => {
    const again = async (): Promise<void> => {
      await pause(againInMs(), over.signal);
      if (!over.signal.aborted) await repeats.wait(over.signal);
      if (!over.signal.aborted) void once();
    };
    const once = async (): Promise<void> => {
      const is_first = tries === 0;
      tries += 1;
      waiting += 1;
      void again();
      try {
        const answer = await ask(over.signal);
        if (!is_first && !over.signal.aborted) repeats.overtook();
        resolve(answer);
      } catch (error) {
        waiting -= 1;
        if (waiting > 0 && !endsIt(error) && !over.signal.aborted) return;
        reject(error as Error);
      }
      over.abort();
    };
    void once();
  });
  return answered.finally(() => signal?.removeEventListener("abort", abort));
}

/** A try that the API has no room for was refused because those before it have not been answered, perhaps. */
const endsIt = (error: unknown): boolean => isWordOfApi(error) && !hadNoRoom(error);

const hadNoRoom = ({ status, problem }: AtlasQueueError): boolean =>
  status === 429 || problem?.type === "/problems/no-room";
