import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

/** A file, as what is broken on purpose must not be what keeps the record. Lines are appended whole, in order. */
const note = (what: "start" | "end", job: { id: string; attempt: number }) =>
  appendFileSync(process.env["TOPOLOGY_RUNS"] ?? "", `${what} ${job.id} ${job.attempt} ${process.pid}\n`);

/** Writes down when it starts and ends, and fails its first attempts if told to. */
export const step = defineHandler(
  "topology.step",
  z.object({ pause_ms: z.number().default(0), failures: z.int().default(0) }),
  async ({ pause_ms, failures }, { job }) => {
    note("start", job);
    await sleep(pause_ms);
    note("end", job);
    if (job.attempt <= failures) throw new Error("it was to fail");
    return { ran_by: process.pid };
  },
);

/** Fails once after its step, and says in which attempt that was done. */
export const steps = defineHandler("topology.steps", z.object({}), async (_, { job, step: once }) => {
  const done_in = await once("once", async () => job.attempt);
  if (job.attempt === 1) throw new Error("it was to fail");
  return { done_in };
});
