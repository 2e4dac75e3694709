import type { BulkJobsInput, Client } from "@atlasqueue/client";
import { sure } from "../output/confirm.ts";
import { writeJson, type Output } from "../output/output.ts";

type Wish = Pick<BulkJobsInput, "action" | "filter" | "all">;
const words = { cancel: "cancelled", retry: "queued again", delete: "deleted", purge: "purged" };

/**
 * Cancel, retry, delete or purge all jobs that match, in as many requests as it takes; counted and asked about first. Throws
 * `Trouble` when the answer is no.
 */
export async function changeMany(
  client: Client,
  wish: Wish,
  { dry_run, yes }: { dry_run: boolean; yes: boolean },
  output: Output,
): Promise<void> {
  const { matched, first_cursor } = await allCalls(client, { ...wish, dry_run: true });
  if (dry_run || matched === 0) return tell(output, wish, { matched, changed: 0 }, "would be");
  await sure(`${matched} jobs would be ${words[wish.action]}. Go on?`, yes);
  // None that was made since the count; one counted for nothing may have come to match meanwhile.
  tell(output, wish, await allCalls(client, wish, first_cursor), "are");
}

async function allCalls(client: Client, wish: BulkJobsInput, from?: string) {
  let matched = 0;
  let changed = 0;
  let first_cursor: string | undefined;
  for (let cursor: string | null | undefined = from; cursor !== null;) {
    const step = await client.bulk({ ...wish, ...(cursor !== undefined && { cursor }) });
    matched += step.matched;
    changed += step.changed;
    first_cursor ??= step.first_cursor;
    cursor = step.next_cursor;
  }
  return { matched, changed, first_cursor };
}

function tell(
  output: Output,
  { action }: Wish,
  counts: { matched: number; changed: number },
  verb: "are" | "would be",
) {
  const { matched, changed } = counts;
  if (output.json) return writeJson(output, { matched, changed });
  output.tell(`${verb === "are" ? `${changed} of ` : ""}${matched} jobs ${verb} ${words[action]}\n`);
}
