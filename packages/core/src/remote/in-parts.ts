import { afterSome, outcomeUnknown } from "../database/errors.ts";

/** `does`: there is something to be done at all. */
type Part<T> = { does: boolean; work: Promise<T> };

/**
 * Two parts of a request, which are done side by side. If one of them fails, and the other has done something, the error says
 * that a part may have been done.
 *
 * @example
 * const [acked, nacked] = await inParts({ does: true, work: acking }, { does: false, work: nacking });
 */
export async function inParts<A, B>(one: Part<A>, other: Part<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([one.work, other.work]);
  if (first.status === "rejected")
    return afterSome(other.does && (second.status === "fulfilled" || outcomeUnknown(second.reason)))(first.reason);
  if (second.status === "rejected") return afterSome(one.does)(second.reason);
  return [first.value, second.value];
}
