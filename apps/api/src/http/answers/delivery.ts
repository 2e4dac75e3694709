import { CallerGoneError } from "@atlasqueue/core/internal";
import { refusalOf } from "../../access/watch.ts";
import type { ApiContext, Authenticator, Undelivered, Whole } from "../context.ts";
import { hangUpOf, type HangUp } from "../input/hang-up.ts";
import { ProblemError } from "./problem.ts";

export type Delivery = Whole & {
  /** Aborts when the caller hangs up before the whole answer is on its way, or their token ends before it is made. */
  hungUp(): AbortSignal;
  /**
   * What to do if the answer does not reach the caller, as far as we can know. `done`: something stays done all the same.
   * `repeatable`: the caller can ask for it again, so only an answer that this one is a part of undoes it.
   */
  ifUndelivered(undo: () => void, what?: { done?: boolean; repeatable?: boolean }): void;
  /** What becomes of the request in that case. */
  undelivered(): Undelivered;
  /** Throws if the caller's token has ended, unless what was done stays done: that is answered. */
  requireLetIn(): Promise<void>;
  /** Why the call was ended early, if its token's end did that. */
  refusal(): ProblemError | undefined;
  /** What the caller learns of an error: of the token's end rather than of a wait that ended with it. */
  meantBy(error: unknown): unknown;
  /** The answer is made, all of it, and on its way from now on. */
  made(answer: Response): Response;
  /** There will be another answer. */
  failed(): void;
};

/**
 * The delivery of an answer that hands something over: if it cannot be made, or the caller hangs up before all of it is
 * on its way, what it hands over is taken back, as the caller never learned of it. What was asked from within the app goes
 * with the answer that it was asked for.
 *
 * @example
 * const delivery = createDelivery(c, { acts: true }, authenticator);
 * delivery.ifUndelivered(() => longPoll.release(tenant, lease_token));
 * return delivery.made(answerJson(c, 200, jobs));
 */
export function createDelivery(
  c: ApiContext,
  { acts }: { acts: boolean },
  { callerOf, watch }: Pick<Authenticator, "callerOf" | "watch">,
): Delivery {
  let hangUp: HangUp | undefined;
  let undo: (() => void) | undefined;
  let undelivered: Undelivered = acts ? "stays_done" : "nothing_done";
  // hono's own default is undefined, whatever the type of `env` says.
  const whole = (c.env as ApiContext["env"] | undefined)?.part_of;
  // Most requests never ask.
  const hungUp = () => (hangUp ??= hangUpOf(c, watch)).signal;
  // No getter: each one would be a hidden class of its own, which the engine keeps long after the request.
  return {
    hungUp,
    ifUndelivered(work, { done = false, repeatable = false } = {}) {
      undo = repeatable && !whole ? undefined : once(work);
      undelivered = done ? "stays_done" : "taken_back";
    },
    undelivered: () => undelivered,
    async requireLetIn() {
      if (undelivered === "stays_done") return;
      const refusal = refusedBy(hangUp) ?? (await refusalOf(callerOf, c));
      if (refusal) throw refusal;
    },
    refusal: () => refusedBy(hangUp),
    meantBy: (error) =>
      undelivered === "stays_done" && !(error instanceof CallerGoneError) ? error : (refusedBy(hangUp) ?? error),
    includes(part, work) {
      if (done_most.indexOf(part) > done_most.indexOf(undelivered)) undelivered = part;
      const before = undo;
      undo = work && before ? () => (before(), work()) : (work ?? before);
    },
    made(answer) {
      whole?.includes(undelivered, undo);
      hangUp?.answered();
      if (!undo) hangUp?.forget();
      else if (hungUp().aborted) undo();
      else hungUp().addEventListener("abort", undo, { once: true });
      return answer;
    },
    failed() {
      whole?.includes(undelivered, undefined);
      hangUp?.forget();
      undo?.();
    },
  };
}

function refusedBy(hangUp: HangUp | undefined): ProblemError | undefined {
  const reason: unknown = hangUp?.signal.reason;
  return reason instanceof ProblemError ? reason : undefined;
}

/** Of the parts of an answer, the one of which most stays says what becomes of the whole. */
const done_most: readonly Undelivered[] = ["nothing_done", "taken_back", "stays_done"];

/** The answer it is a part of may hear of the same end. */
function once(work: () => void): () => void {
  let over = false;
  return () => {
    if (over) return;
    over = true;
    work();
  };
}
