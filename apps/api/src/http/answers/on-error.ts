import { DatabaseTimeoutError, isUnavailable, type Logger, type Observe } from "@atlasqueue/core";
import {
  CallerGoneError,
  cameAfterAPart,
  hadNoRoom,
  isLocked,
  LeaseTokenTakenError,
  outcomeUnknown,
  type OutageWatch,
  StorageFullError,
  TooManyQueuesError,
} from "@atlasqueue/core/internal";
import { routePath } from "hono/route";
import { answerError } from "./answer-error.ts";
import type { ApiContext } from "../context.ts";
import { internal, noRoom, ProblemError, storageFull, tooManyQueues, unavailable } from "./problem.ts";

/** A mark lasts longer; while there is an outage, heartbeats meet it more often. */
const met_ms = 2_000;
const no_answer = "The database did not answer";

/** The one place that turns what was thrown into an answer. */
export function answerErrors(deps: { observe: Observe; logger: Logger; outage: Pick<OutageWatch, "failed"> }) {
  let met_at = -Infinity;
  /** Told that the database is away, a remote worker holds on to its job: nobody else should be given it soon. */
  const ofHeartbeat = (error: Error, c: ApiContext): ProblemError => {
    const now = performance.now();
    // It waited for its turn behind one that has met the outage and told the fleet.
    if (isBusy(error) && now - met_at < met_ms) return unavailable(no_answer);
    if (isOutage(error)) {
      met_at = now;
      // The answer waits for nobody.
      void deps.outage.failed();
    }
    return problemOf(deps, error, c);
  };
  return (error: Error, c: ApiContext): Response =>
    answerError(c, routePath(c, -1).endsWith("/heartbeat") ? ofHeartbeat(error, c) : problemOf(deps, error, c));
}

/** The database is away, as far as this process knows: not somebody's lock on a job, nor too many callers here. */
const isOutage = (error: Error): boolean => isUnavailable(error) && !isLocked(error) && !hadNoRoom(error);
/** All connections were taken. */
const isBusy = (error: unknown): error is Error => error instanceof DatabaseTimeoutError && error.is_busy;

/** What the client learns of an error. Causes go to the log, never to the client. */
export function problemOf(deps: { observe: Observe; logger: Logger }, error: unknown, c: ApiContext): ProblemError {
  if (error instanceof ProblemError) return error;
  if (hadNoRoom(error)) return cameAfterAPart(error) ? maybeDone(error.message) : noRoom(error);
  if (error instanceof TooManyQueuesError) return tooManyQueues(error);
  if (error instanceof StorageFullError) return storageFull(error);
  if (error instanceof LeaseTokenTakenError) return new ProblemError("lease_token_used", error.message);
  // No one reads it, and it is no one's fault.
  if (error instanceof CallerGoneError) return unavailable("The caller hung up");
  if (isUnavailable(error)) {
    const during = `${c.req.method} ${routePath(c, -1)}`;
    deps.observe({ event: "database_unavailable", during, error: textOf(error as Error) });
    return outcomeUnknown(error) ? maybeDone(no_answer) : unavailable(no_answer);
  }
  deps.logger.error({ event: "http_error", request_id: c.get("request_id"), err: error }, "http_error");
  return internal();
}

/** In words too: OpenQueue's errors have nothing else. */
const maybeDone = (detail: string) => unavailable(`${detail}; it, or a part of it, may have been done`, true);

/** A failed connection to several addresses has a code and no message. */
function textOf(error: Error & { code?: unknown }): string {
  return error.message || String(error.code);
}
