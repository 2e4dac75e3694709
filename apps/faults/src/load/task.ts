import { z } from "zod";

/** What becomes of the time a handler takes: whether it heeds its signal, and whether it lets anything else run. */
const manners = ["waits", "heeds", "blocks"] as const;

/**
 * The payload of every job: what its handler is to do. The nonce names the wish of the submitter that it came from, so a
 * job whose answer got lost is still known.
 */
export const task = z.object({
  nonce: z.string(),
  tenant: z.string(),
  group: z.string().optional(),
  /** How long it takes, at its first attempt and at later ones. */
  ms: z.number().nonnegative().default(0),
  later_ms: z.number().nonnegative().default(0),
  manner: z.enum(manners).default("waits"),
  /** How many of its first attempts fail. */
  fails: z.number().int().nonnegative().default(0),
  /** Whether it says that trying again is no use. */
  gives_up: z.boolean().default(false),
  /** A signal that it waits for before anything else: parked, and not for long. */
  waits_for: z.string().optional(),
  /** How many jobs it adds as it succeeds. */
  spawns: z.number().int().nonnegative().default(0),
});
export type Task = z.output<typeof task>;
export type TaskInput = z.input<typeof task>;
