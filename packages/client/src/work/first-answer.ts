import { type AtlasQueueError, isWordOfApi } from "../errors.ts";
import { pause } from "../http/time.ts";

/** An API may take that long to say that its database is away: asked again before, an outage would be twice the work for it. */
const patience_ms = 2_500;
/** With less than that left, one more answer would come too late. */
const left_ms_min = 1_000;
/** One try takes so long at most, and with more than that left there is time for another after it. */
export const try_ms_max = 10_000;
const left_ms_max = try_ms_max + patience_ms;

/**
 * How long a renewal waits for its answer until it is sent once more beside the first, where that may take all that is left of
 * its lease: a third of it, so that one answer which the network swallowed leaves time for another. At least the API's own
 * patience where a lease is long enough for that.
 *
 * @example
 * againMs(9_000); // 3,000
 */
export const againMs = (left_ms: number): number =>
  left_ms < left_ms_min || left_ms > left_ms_max ? Infinity : Math.max(left_ms / 3, Math.min(patience_ms, left_ms / 2));

/** A swallowed connection had a few renewals on it. */
const repeats_min = 10;
const repeats_share = 50;

/** How many renewals of a worker may be asked for more than once at a time. */
export type Repeats = { begin(): boolean; end(): void };

/**
 * One in fifty of the jobs held, or ten. What the network swallows meets a few renewals; an API that is slow meets all, and
 * all of them sent again would be what keeps it from answering any.
 *
 * @example
 * const repeats = createRepeats(held.size);
 */
export function createRepeats(jobsHeld: () => number): Repeats {
  let under_way = 0;
  return {
    begin() {
      if (under_way >= Math.max(repeats_min, jobsHeld() / repeats_share)) return false;
      under_way += 1;
      return true;
    },
    end: () => void (under_way -= 1),
  };
}

/**
 * Ask, and ask again while no answer has come, where `repeats` allows it then. The earlier tries are left to wait: an answer
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
  signal: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const abort = () => over.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  let waiting = 0;
  const answered = new Promise<T>((resolve, reject) => {
    const again = async (): Promise<void> => {
      await pause(againInMs(), over.signal);
      if (over.signal.aborted) return;
      if (!repeats.begin()) return void again();
      // One that is swallowed as well must not keep its place.
      void pause(patience_ms, over.signal).then(repeats.end);
      void once();
    };
    const once = async (): Promise<void> => {
      waiting += 1;
      void again();
      try {
        resolve(await ask(over.signal));
      } catch (error) {
        waiting -= 1;
        if (waiting > 0 && !endsIt(error) && !over.signal.aborted) return;
        reject(error as Error);
      }
      over.abort();
    };
    void once();
  });
  return answered.finally(() => signal.removeEventListener("abort", abort));
}

/** A try that the API has no room for was refused because those before it have not been answered, perhaps. */
const endsIt = (error: unknown): boolean => isWordOfApi(error) && !hadNoRoom(error);

const hadNoRoom = ({ status, problem }: AtlasQueueError): boolean =>
  status === 429 || problem?.type === "/problems/no-room";
