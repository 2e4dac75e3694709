import {
  ParkedError,
  type Json,
  type ParentPage,
  type ParentsOfJob,
  type ParentSource,
  type ParkAnswer,
  type StepStore,
} from "@atlasqueue/contract";
import { pause, restMs } from "../waiting/pause.ts";

/** The calls that a handler makes of its job, over SQL or HTTP. Each rejects while the other side is away. */
type JobCalls = {
  steps(): Promise<ReadonlyMap<string, Json>>;
  /** Resolves with the first result of that name. */
  storeStep(name: string, result: Json): Promise<Json>;
  park(signal: string, timeout_seconds: number): Promise<ParkAnswer>;
  firstParents(): Promise<ParentsOfJob | undefined>;
  parentPage(cursor: string | undefined): Promise<ParentPage>;
};

export type Held = {
  calls: JobCalls;
  /** Throws once the attempt is over, whether or not its handler heeds that. */
  check(): void;
  /** Ends a rest when the attempt is over. */
  signal?: AbortSignal;
  /** Made for each question: whether its failure may pass. `asked_at` is on the clock of `performance.now()`. */
  judge(): (error: unknown, asked_at: number) => boolean;
  /** A call failed, and is repeated. */
  failed(during: "steps" | "parents", error: unknown): void;
  isLost(error: unknown): boolean;
  /** The job is not held any more: takes it from its handler. */
  lost(error: unknown): void;
  /** The job waits, and is not held any more. `reason` is for its handler. */
  parked(reason: ParkedError, signal: string, until: string): void;
};

export type Sources = { steps: StepStore; parents: ParentSource };

/**
 * The steps and parents of a job that is held. While the other side is away it is asked again, for as long as the job is
 * held: an outage costs no attempt.
 */
export function sourcesOf(held: Held): Sources {
  const { calls } = held;
  const asker =
    (during: "steps" | "parents") =>
    async <T>(ask: () => Promise<T>): Promise<T> => {
      const mayPass = held.judge();
      for (let failures = 1; ; failures += 1) {
        held.check();
        const asked_at = performance.now();
        try {
          return await ask();
        } catch (error) {
          if (held.isLost(error)) held.lost(error);
          held.check();
          if (!mayPass(error, asked_at)) throw error;
          held.failed(during, error);
          await pause(restMs(failures), held.signal);
        }
      }
    };
  const steps = asker("steps");
  const parents = asker("parents");
  return {
    steps: {
      load: () => steps(() => calls.steps()),
      store: (name, result) => steps(() => calls.storeStep(name, result)),
      async park(signal, timeout_seconds) {
        const answer = await steps(() => calls.park(signal, timeout_seconds));
        switch (answer.outcome) {
          case "parked":
            held.parked(new ParkedError(signal), signal, answer.until);
            return "parked";
          case "signalled":
            return { timed_out: false, payload: answer.payload };
          case "timed_out":
            return { timed_out: true };
          default:
            return answer satisfies never;
        }
      },
    },
    parents: {
      first: () => parents(() => calls.firstParents()),
      page: (cursor) => parents(() => calls.parentPage(cursor)),
    },
  };
}
