import type { Json } from "../checks/json.ts";
import { limits } from "../checks/limits.ts";
import { jobStatuses } from "../wire/status.ts";
import type { ParentCounts, ParentPage, ParentResult, ParentsOfJob } from "../wire/flows/parents.ts";

export type Parents = {
  /**
   * The jobs that this one waited for, with their results, by the refs that its request named them by; those from before
   * the flow by their ids. All of them, however many. Rejects with a RangeError for more than 64 MiB of results. To read
   * the `result` of one with `result_gone` throws: it had one, which was kept no longer.
   */
  parents(): Promise<Record<string, ParentResult>>;
  /** How many of them are in each status. Asks for no more results than come with every job. */
  parentCounts(): Promise<ParentCounts>;
};

/** Where the parents of one job are asked for. */
export type ParentSource = {
  /** What comes with the job; undefined when it has no parents. */
  first(): Promise<ParentsOfJob | undefined>;
  /** Of all of them, from the beginning or from a page's `next_cursor` on. */
  page(cursor: string | undefined): Promise<ParentPage>;
};

const none = Object.fromEntries(jobStatuses.map((status) => [status, 0])) as ParentCounts;

/**
 * The parents of the job of one attempt. Nothing is asked before they are.
 *
 * @example
 * const { parents, parentCounts } = createParents(source);
 */
export function createParents(source: ParentSource): Parents {
  let asked: Promise<ParentsOfJob | undefined> | undefined;
  const first = () =>
    (asked ??= source.first().catch((error: unknown) => {
      // A handler may catch it and try again.
      asked = undefined;
      throw error;
    }));
  return {
    async parents() {
      const found = await first();
      if (found && !found.parents_complete) return all(source);
      return Object.fromEntries(Object.entries(found?.parents ?? {}).map(([ref, one]) => [ref, honest(one)]));
    },
    parentCounts: async () => (await first())?.parent_counts ?? none,
  };
}

async function all(source: ParentSource): Promise<Record<string, ParentResult>> {
  const found: [string, ParentResult][] = [];
  let chars = 0;
  for (let cursor: string | undefined; ;) {
    const { items, next_cursor }: ParentPage = await source.page(cursor);
    for (const { ref, ...parent } of items) {
      chars += charsOf(parent.result);
      found.push([ref, honest(parent)]);
    }
    if (chars > limits.parents_read_chars_max)
      throw new RangeError(
        "the results of this job's parents are more than 64 MiB; read them in pages, with GET /v1/jobs/{id}/parents",
      );
    if (next_cursor === null) return Object.fromEntries(found);
    cursor = next_cursor;
  }
}

/** A handler that reads a result that is gone would continue with null, and compute something wrong. */
function honest(parent: ParentResult): ParentResult {
  if (!parent.result_gone) return parent;
  const message = `the result of the job ${parent.id}, for which this one waited, is gone: it was kept no longer`;
  return Object.defineProperty({ ...parent }, "result", {
    enumerable: true,
    get: () => {
      throw new Error(message);
    },
  });
}

const charsOf = (result: Json) => (result === null ? 0 : JSON.stringify(result).length);
