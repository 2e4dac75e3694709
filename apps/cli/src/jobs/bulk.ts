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
  const { matched } = await allCalls(client, { ...wish, dry_run: true });
  if (dry_run || matched === 0) return tell(output, wish, { matched, changed: 0 }, "would be");
  await sure(`${matched} jobs would be ${words[wish.action]}. Go on?`, yes);
  tell(output, wish, await allCalls(client, wish), "are");
}

async function allCalls(client: Client, wish: BulkJobsInput) {
  let matched = 0;
  let changed = 0;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const step = await client.bulk({ ...wish, ...(cursor !== undefined && { cursor }) });
    matched += step.matched;
    changed += step.changed;
    cursor = step.next_cursor;
  }
  return { matched, changed };
}

function tell(
  output: Output,
  { action }: Wish,
  counts: { matched: number; changed: number },
  verb: "are" | "would be",
) {
  if (output.json) return writeJson(output, counts);
  output.tell(`${verb === "are" ? `${counts.changed} of ` : ""}${counts.matched} jobs ${verb} ${words[action]}\n`);
}
