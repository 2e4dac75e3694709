import { z } from "zod";
import { idempotency_key, queue_name } from "../fields.ts";
import { once } from "../once.ts";
import { tool, type Context } from "../tool.ts";

const about = {
  toolset: "operate",
  scope: "admin",
  hints: { read_only: false, destructive: false, idempotent: true, open_world: false },
} as const;
const input = z.strictObject({ queue_name, idempotency_key });
const output = z.object({
  queue_name: z.string(),
  paused: z.boolean().optional().describe("how it is now, if this call did something"),
  changed: z.boolean().describe("false: this key had been used for it, and nothing was done"),
});

export const pauseQueue = tool({
  ...about,
  name: "pause_queue",
  title: "Pause a queue",
  description: "Start no more jobs of a queue. Running ones go on, and new ones are accepted. resume_queue undoes it.",
  // Work stands still, until somebody resumes it.
  hints: { ...about.hints, destructive: true },
  input,
  output,
  run: (args, context) => set(context, args, "pause"),
});

export const resumeQueue = tool({
  ...about,
  name: "resume_queue",
  title: "Resume a queue",
  description: "Start jobs of a paused queue again.",
  hints: { ...about.hints, open_world: true },
  input,
  output,
  run: (args, context) => set(context, args, "resume"),
});

async function set(
  context: Context,
  { queue_name: queue, idempotency_key: key }: z.output<typeof input>,
  verb: "pause" | "resume",
): Promise<z.output<typeof output>> {
  const act = { tool: `${verb}_queue`, action: `queue.${verb}`, target: queue, key };
  const outcome = await once(context, act, (client, call) => client[verb](queue, call));
  if (outcome.repeated) return { queue_name: queue, changed: false };
  return { queue_name: queue, paused: outcome.done.paused, changed: true };
}
