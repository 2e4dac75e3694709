import { AtlasQueueError, isWordOfApi, LeaseLostError, NotFoundError } from "../errors.ts";

/** The API says that the job is not held any more. A gateway's 404, as while what is behind it restarts, says nothing of that. */
export const isLost = (error: unknown): error is LeaseLostError | NotFoundError =>
  isWordOfApi(error) && (error instanceof LeaseLostError || error instanceof NotFoundError);

/** What was asked is refused, by the API or by a proxy, or cannot even be written as JSON. */
export const isRefusal = (error: unknown): boolean =>
  !(error instanceof AtlasQueueError) || [400, 413, 422].includes(error.status ?? 0);

/** What a tenant may have is used up: it takes somebody to change that. */
const at_limits = ["/problems/too-many-queues", "/problems/storage-full"];

/** The token may not add jobs, another job has the unique key of one, or there may be no more of them. */
export const isRefusalToAdd = (error: unknown): boolean =>
  error instanceof AtlasQueueError &&
  ([401, 403, 409].includes(error.status ?? 0) || at_limits.includes(error.problem?.type ?? ""));

/** The token may not do this, now or later. */
export const isForbidden = (error: unknown): boolean => error instanceof AtlasQueueError && error.status === 403;

/** About eight seconds of them, in a row. */
const refusals_max = 10;

/**
 * Whether one of the refusals above is final: the API's own is. A gateway's may pass, as its other failures do; but where it
 * always refuses, as what is too large for it, the job would be held for ever, as its lease is renewed meanwhile.
 */
export const isFinal = (error: unknown, refusals: number): boolean =>
  !(error instanceof AtlasQueueError) || isWordOfApi(error) || refusals >= refusals_max;
