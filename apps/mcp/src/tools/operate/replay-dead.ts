import { deadChoice } from "@atlasqueue/contract";
import { z } from "zod";
import { Refusal } from "../../refusal.ts";
import { given, idempotency_key, queue_name } from "../fields.ts";
import { once } from "../once.ts";
import { tool } from "../tool.ts";

const { type, tag, fingerprint, died_after, died_before } = deadChoice;

export const replayDead = tool({
  name: "replay_dead",
  title: "Replay dead letters",
  description:
    "Queue dead jobs again, as new ones with all their attempts. Only counts them unless dry_run is false. Look first: " +
    "the dry run answers with died_before, and sent along with it, the replay takes just the jobs that were counted, and " +
    "none that dies again meanwhile. Single jobs: retry_job.",
  toolset: "operate",
  scope: "admin",
  hints: { read_only: false, destructive: true, idempotent: true, open_world: true },
  input: z.strictObject({
    queue_name: queue_name.optional().describe(queue_name.description ?? ""),
    type,
    tag,
    fingerprint,
    died_after,
    died_before,
    dry_run: z.boolean().default(true).describe("true or false; false does it"),
    idempotency_key: idempotency_key.optional().describe(`${idempotency_key.description}; needed if dry_run is false`),
  }),
  output: z.object({
    dry_run: z.boolean(),
    matched: z.int(),
    changed: z.int().describe("how many were queued; less than matched when time ran out: repeat with a new key"),
    repeated: z
      .boolean()
      .describe("true: this key had been used for it before; nothing was done now, and the counts are of then"),
    died_before: z.iso.datetime().optional().describe("none of these dead letters died later than it says"),
  }),
  async run({ dry_run, idempotency_key: key, queue_name: queue, ...traits }, context) {
    const which = given({ ...traits, queue });
    if (dry_run) {
      const all = Object.keys(which).length === 0 ? { all: true as const } : which;
      const counted = await context.client.deadLetters.replay(all, { dryRun: true }, { signal: context.signal });
      const { matched, died_before: until = traits.died_before } = counted;
      return { dry_run, repeated: false, matched, changed: 0, died_before: until };
    }
    if (traits.died_before === undefined || key === undefined)
      throw new Refusal(
        "A replay needs died_before and idempotency_key. Call replay_dead with dry_run first, show what it counted, and " +
          "send the died_before of its answer along.",
      );
    const { repeated, done } = await once(context, key, (call) => context.client.deadLetters.replay(which, {}, call));
    return { dry_run, repeated, matched: done.matched, changed: done.changed, died_before: traits.died_before };
  },
});
