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
  paused: z.boolean().describe("how it is now"),
  changed: z.boolean().describe("false: this key had been used for it before, and nothing was done now"),
});

export const pauseQueue = tool({
  ...about,
  name: "pause_queue",
  title: "Pause a queue",
  description: "Start no more jobs of a queue. Running ones go on, and new ones are accepted. resume_queue undoes it.",
  // No job of the queue starts until it is resumed.
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
  const { repeated, done } = await once(context, key, (call) => context.client[verb](queue, call));
  return { queue_name: queue, paused: done.paused, changed: !repeated };
}
