import type { BulkAnswer, DeadGroupPage, JobPage } from "@atlasqueue/contract";
import { listPages } from "../http/list-pages.ts";
import { replayCalls } from "./replays.ts";
import type { Ask } from "../http/ask.ts";
import type { ActOptions, CallOptions } from "../http/transport.ts";

/** What dead letters have in common; `fingerprint` is their error's, as `groups` shows it. Times are RFC 3339. */
export type DeadLetterTraits = {
  queue?: string;
  type?: string;
  tag?: string;
  fingerprint?: string;
  died_after?: string;
  died_before?: string;
};

/** Which dead letters: by id, by what they have in common, or all of them. */
export type DeadLetterChoice = { ids: readonly string[] } | DeadLetterTraits | { all: true };

/**
 * The same choice without what has died since a dry run or preview counted it, by the `died_before` of that answer. Ids stay
 * as they are.
 *
 * @example
 * const { died_before } = await client.deadLetters.purge({ all: true }, { dryRun: true });
 * await client.deadLetters.purge(onlyCounted({ all: true }, died_before));
 */
export function onlyCounted<Choice extends DeadLetterChoice>(choice: Choice, died_before: string | undefined) {
  if ("ids" in choice || died_before === undefined) return choice;
  const { all: _, ...traits } = choice as DeadLetterTraits & { all?: true };
  return { ...traits, died_before };
}

export type DeadLetterFilter = {
  queue?: string;
  type?: string;
  fingerprint?: string;
  /** Jobs in total. Default: all there are. */
  limit?: number;
  /** Jobs per request, 1 to 200. Default 50. */
  pageSize?: number;
};

/** Besides what is listed here, a call may reject like any other: AuthError, ValidationError, UnavailableError, … */
export type DeadLetterCalls = ReturnType<typeof deadLetterCalls>;

export function deadLetterCalls(ask: Ask) {
  const change =
    (verb: "replay" | "purge") =>
    (which: DeadLetterChoice, { dryRun: dry_run = false } = {}, call?: ActOptions): Promise<BulkAnswer> =>
      // Not after a lost answer: by then a job may have died again, and that would be a second replay.
      ask("POST", ["dlq", verb], call, { body: { ...which, dry_run }, repeat: dry_run ? "always" : "undone" });
  return {
    /** Most recently dead first, fetched a page at a time as they are read. */
    list: (filter?: DeadLetterFilter, call?: CallOptions) =>
      listPages(filter, (query) => ask<JobPage>("GET", ["dlq"], call, { query })),
    /** By type and error, in this order, a page at a time: go on with its `next_cursor`. */
    groups: (
      query: { type?: string; limit?: number; cursor?: string } = {},
      call?: CallOptions,
    ): Promise<DeadGroupPage> => ask("GET", ["dlq", "groups"], call, { query }),
    /**
     * Queue dead letters again, with all their attempts. `changed` is less than `matched` when a request ran out of time:
     * ask again. With `dryRun` nothing is changed.
     */
    replay: change("replay"),
    /** Delete dead letters for good. Otherwise like `replay`. */
    purge: change("purge"),
    /** Replays that go on in the background: paced, patched, paused. */
    replays: replayCalls(ask),
  };
}
