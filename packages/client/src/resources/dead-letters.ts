import type { BulkAnswer, Job, JobPage } from "@atlasqueue/contract";
import { listPages } from "../http/list-pages.ts";
import type { CallOptions, Send } from "../http/transport.ts";

/** Which dead letters: by id, by queue or type or both, or all of them. */
export type DeadLetterChoice = { ids: readonly string[] } | { queue?: string; type?: string } | { all: true };

export type DeadLetterFilter = {
  queue?: string;
  type?: string;
  /** Jobs in total. Default: all there are. */
  limit?: number;
  /** Jobs per request, 1 to 200. Default 50. */
  pageSize?: number;
};

/** Besides what is listed here, a call may reject like any other: AuthError, ValidationError, UnavailableError, … */
export type DeadLetterCalls = {
  /** Most recently dead first, fetched a page at a time as they are read. */
  list(filter?: DeadLetterFilter, call?: CallOptions): AsyncGenerator<Job, void, undefined>;
  /**
   * Queue dead letters again, with all their attempts. `changed` is less than `matched` when a request ran out of time:
   * ask again. With `dryRun` nothing is changed.
   */
  replay(which: DeadLetterChoice, options?: { dryRun?: boolean }, call?: CallOptions): Promise<BulkAnswer>;
  /** Delete dead letters for good. Otherwise like `replay`. */
  purge(which: DeadLetterChoice, options?: { dryRun?: boolean }, call?: CallOptions): Promise<BulkAnswer>;
};

export function deadLetterCalls(send: Send): DeadLetterCalls {
  const change = async (verb: "replay" | "purge", which: DeadLetterChoice, dry_run: boolean, call?: CallOptions) => {
    const body = JSON.stringify({ ...which, dry_run });
    // Not after a lost answer: by then a job may have died again, and that would be a second replay.
    const repeat = dry_run ? "always" : "undone";
    return (await send({ method: "POST", path: `/v1/dlq/${verb}`, body, repeat }, call)).body as BulkAnswer;
  };
  return {
    list: (filter, call) =>
      listPages(filter, async (query) => {
        const answer = await send({ method: "GET", path: "/v1/dlq", query, repeat: "always" }, call);
        return answer.body as JobPage;
      }),
    replay: (which, { dryRun = false } = {}, call) => change("replay", which, dryRun, call),
    purge: (which, { dryRun = false } = {}, call) => change("purge", which, dryRun, call),
  };
}
