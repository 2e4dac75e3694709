import {
  onlyCounted,
  type Client,
  type DeadGroup,
  type DeadLetterChoice,
  type DeadLetterTraits,
} from "@atlasqueue/client";
import { limits, type Job } from "@atlasqueue/contract";
import { exitCodes } from "../exit.ts";
import { sure } from "../output/confirm.ts";
import { writeJson, type Output } from "../output/output.ts";
import { second } from "../output/plain.ts";
import { showTable, type Columns } from "../output/table.ts";

/** More than anyone reads. */
const groups_max = 10_000;

const columns: Columns<Job> = {
  id: ({ id }) => id,
  type: ({ type }) => type,
  queue: ({ queue }) => queue,
  attempts: ({ attempts }) => String(attempts),
  died: ({ finished_at }) => second(finished_at),
  reason: ({ dead_reason }) => dead_reason ?? "",
  "last error": ({ last_error }) => last_error ?? "",
};

type Filter = {
  queue?: string | undefined;
  type?: string | undefined;
  tag?: string | undefined;
  fingerprint?: string | undefined;
};

const groupColumns: Columns<DeadGroup> = {
  type: ({ type }) => type,
  fingerprint: ({ fingerprint }) => fingerprint,
  count: ({ count, count_complete }) => (count_complete ? String(count) : `${count}+`),
  first: ({ first_seen }) => second(first_seen),
  last: ({ last_seen }) => second(last_seen),
  error: ({ error }) => error,
};

export async function list(
  { deadLetters }: Client,
  { limit, ...filter }: Filter & { limit: number },
  output: Output,
): Promise<void> {
  const items: Job[] = [];
  const pageSize = Math.min(limit, limits.list_items_max);
  for await (const job of deadLetters.list({ ...given(filter), limit, pageSize })) items.push(job);
  if (output.json) return writeJson(output, { items });
  if (items.length === 0) return output.tell("No matching dead letters\n");
  showTable(output, columns, items);
}

export async function groups({ deadLetters }: Client, { type }: Pick<Filter, "type">, output: Output): Promise<void> {
  const items: DeadGroup[] = [];
  for (let cursor: string | null | undefined; cursor !== null && items.length < groups_max;) {
    const page = await deadLetters.groups({
      ...(type === undefined ? {} : { type }),
      ...(cursor === undefined ? {} : { cursor }),
      limit: limits.list_items_max,
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  if (output.json) return writeJson(output, { items });
  if (items.length === 0) return output.tell("No matching dead letters\n");
  showTable(output, groupColumns, items);
}

/** What was chosen, or undefined when that is nothing or ambiguous. */
export function choiceOf({
  ids,
  all,
  ...filter
}: Filter & { ids: string[]; all: boolean }): DeadLetterChoice | undefined {
  const filtered = Object.values(filter).some((value) => value !== undefined);
  if ([ids.length > 0, filtered, all].filter(Boolean).length !== 1) return undefined;
  if (all) return { all };
  return filtered ? given(filter) : { ids };
}

export type ChangeWish = {
  verb: "replay" | "purge";
  choice: DeadLetterChoice;
  dry_run: boolean;
  /** Do not ask. */
  yes: boolean;
};

const words = { replay: "queued again", purge: "deleted" };

/**
 * Replay or purge, in as many requests as it takes. Throws `Trouble` when the answer to the question is no; the exit code
 * is 1 when some were left.
 */
export async function change({ deadLetters }: Client, wish: ChangeWish, output: Output): Promise<void> {
  const { verb, choice, dry_run, yes } = wish;
  const look = await deadLetters[verb](choice, { dryRun: true });
  if (dry_run || look.matched === 0) return report(output, verb, look, dry_run);
  await sure(`${look.matched} dead letters would be ${words[verb]} for good. Continue?`, yes);
  const counted = onlyCounted(choice, look.died_before);
  let changed = 0;
  let left = 0;
  do {
    const step = await deadLetters[verb](counted);
    changed += step.changed;
    left = step.matched - step.changed;
    // No progress means that the rest is locked by others. What died again meanwhile was not meant: it could go on
    // forever.
    if (step.changed === 0 || changed >= look.matched) break;
  } while (left > 0);
  const missed = Math.max(0, look.matched - changed);
  report(output, verb, { matched: changed + Math.min(left, missed), changed }, false);
  if (left > 0 && missed > 0) process.exitCode = exitCodes.failed;
}

function report(
  output: Output,
  verb: ChangeWish["verb"],
  { matched, changed }: { matched: number; changed: number },
  dry_run: boolean,
): void {
  if (output.json) return writeJson(output, { matched, changed });
  if (dry_run) return output.tell(`${matched} would be ${words[verb]}\n`);
  output.tell(`${changed} of ${matched} dead letters are ${words[verb]}\n`);
}

/** Only what was given. */
function given({ queue, type, tag, fingerprint }: Filter): DeadLetterTraits {
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(type === undefined ? {} : { type }),
    ...(tag === undefined ? {} : { tag }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
}
