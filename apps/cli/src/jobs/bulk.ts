import { setTimeout as delay } from "node:timers/promises";
import type { Client, CreateOperationInput, Operation } from "@atlasqueue/client";
import { sure } from "../output/confirm.ts";
import { writeJson, type Output } from "../output/output.ts";

type Wish = Pick<CreateOperationInput, "kind" | "filter" | "all">;
const words = { cancel: "cancelled", retry: "queued again", delete: "deleted", purge: "purged" };

const look_ms = 500;
/** Between two lines about how far it has come. */
const told_ms = 5_000;

/**
 * Cancel, retry, delete or purge all jobs that match; counted and asked about first. It waits for the operation, which
 * goes on if the command is interrupted. Throws `Trouble` when the answer is no.
 */
export async function changeMany(
  client: Client,
  wish: Wish,
  { dry_run, yes }: { dry_run: boolean; yes: boolean },
  output: Output,
): Promise<void> {
  const { total, total_complete, cursor } = await client.operations.preview(wish);
  if (dry_run || total === 0) return tell(output, wish, { total, done: 0 }, "would be");
  await sure(`${total}${total_complete ? "" : " or more"} jobs would be ${words[wish.kind]}. Continue?`, yes);
  // None that was made since the count.
  const operation = await client.operations.create({ ...wish, cursor });
  tell(output, wish, await atItsEnd(client, operation, output), "are");
}

async function atItsEnd(client: Client, begun: Operation, output: Output): Promise<Operation> {
  let now = begun;
  for (let told_at = performance.now(); now.finished_at === null; now = await client.operations.get(now.id)) {
    if (!output.json && performance.now() - told_at > told_ms) {
      told_at = performance.now();
      output.tell(`${now.done} of ${now.total} so far; operations cancel ${now.id} stops it\n`);
    }
    await delay(look_ms);
  }
  return now;
}

function tell(
  output: Output,
  { kind }: Wish,
  { total, done }: Pick<Operation, "total" | "done">,
  verb: "are" | "would be",
) {
  if (output.json) return writeJson(output, { matched: total, changed: done });
  output.tell(`${verb === "are" ? `${done} of ` : ""}${total} jobs ${verb} ${words[kind]}\n`);
}
