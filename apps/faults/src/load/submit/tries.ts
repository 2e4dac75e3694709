import { AsyncLocalStorage } from "node:async_hooks";

/** Of one call, which may be sent several times. */
type Tries = { unanswered: boolean };
const current = new AsyncLocalStorage<Tries>();

/**
 * Calls, and tells whether any of its tries had no answer that says what became of it: the client sends a request again by
 * itself, and what it asked for first may be done after a later try was refused.
 *
 * @example
 * const { value, unanswered } = await countingTries(() => client.submit(request));
 */
export async function countingTries<T>(call: () => Promise<T>): Promise<{ value: T; unanswered: boolean }> {
  const tries: Tries = { unanswered: false };
  const value = await current.run(tries, call);
  return { value, unanswered: tries.unanswered };
}

/** The try under way has no answer. */
export function noteUnanswered(): void {
  const tries = current.getStore();
  if (tries) tries.unanswered = true;
}

/** `fetch`, for a client whose tries are to be told. */
export const countedFetch: typeof fetch = async (input, init) => {
  try {
    const answer = await fetch(input, init);
    if (answer.status >= 500 && !(await saysUndone(answer.clone()))) noteUnanswered();
    return answer;
  } catch (error) {
    noteUnanswered();
    throw error;
  }
};

/** Of what an API refuses before it has begun, it says so; a gateway in front of it cannot know. */
async function saysUndone(answer: Response): Promise<boolean> {
  if (answer.status !== 503) return false;
  const problem = (await answer.json().catch(() => ({ maybe_done: true }))) as { maybe_done?: boolean };
  return problem.maybe_done !== true;
}
