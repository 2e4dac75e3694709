import {
  anyJson,
  limits,
  parkRequest,
  spawnedJob,
  stepName,
  type Json,
  type ParentPage,
  type ParentsOfJob,
  type SignalWait,
  type TraceContext,
} from "@atlasqueue/contract";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { z } from "zod";

/** A job for a child process. `log_level` is that of the worker's logger, `trace` the span of the attempt. */
export type Task = { module: string; lease: Lease; log_level: string; trace?: TraceContext | undefined };

export type ToChild =
  | { kind: "run"; run: number; task: Task }
  | { kind: "abort"; run: number; reason: string }
  /** To what the handler asked under this number. */
  | { kind: "answer"; run: number; ask: number; answer: Answer };

/** What the worker's own step store, or source of parents, resolved with, or rejected. Steps are sent as pairs, which any name survives. */
export type Answer =
  | { value: [name: string, result: Json][] | Json | SignalWait | "parked" | ParentsOfJob | ParentPage | null }
  | { refused: { name: string; message: string } };

/** What a handler sends while it runs. */
const word = [
  /** A line of its logger, as JSON. */
  z.object({ kind: z.literal("logged"), line: z.string() }),
  /** A line that it wrote to its own stdout or stderr. */
  z.object({ kind: z.literal("output"), stream: z.enum(["stdout", "stderr"]), line: z.string() }),
  /** A line to be kept with the attempt. */
  z.object({ kind: z.literal("line"), line: z.string() }),
  z.object({
    kind: z.literal("progress"),
    progress: z.object({
      done: z.number().min(0).max(1),
      note: z.string().max(limits.progress_note_chars_max).exactOptional(),
    }),
  }),
  /** A call of what only the worker has: answered under its number. */
  z.object({
    kind: z.literal("ask"),
    ask: z.int(),
    of: z.discriminatedUnion("call", [
      z.object({ call: z.literal("load") }),
      z.object({ call: z.literal("store"), name: stepName, result: anyJson }),
      z.object({ call: z.literal("park"), ...parkRequest.omit({ lease_token: true }).shape }),
      z.object({ call: z.literal("parents") }),
      z.object({ call: z.literal("parents_page"), after: z.int().min(0).max(limits.flow_edges_max) }),
    ]),
  }),
] as const;

/** How a handler ended. The worker decides what of it can be stored. */
const outcome = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("succeeded"),
    result: z.unknown(),
    spawned: z
      .object({ children: z.array(spawnedJob).max(limits.batch_items_max), dependants_wait: z.boolean() })
      .optional(),
  }),
  z.object({
    kind: z.literal("failed"),
    error: z.string(),
    error_data: z.unknown().optional(),
    retryable: z.boolean(),
    delay_ms: z
      .number()
      .min(0)
      .max(limits.delay_seconds_max * 1_000)
      .optional(),
  }),
]);

/**
 * What a child says of a run; the handler running in it may forge any of it. `begun`: the module is loaded and the handler
 * called. `run`: so that leftovers of an earlier job count for nothing.
 */
const ofRun = z.object({
  run: z.int(),
  said: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("begun") }),
    z.object({ kind: z.literal("outcome"), outcome }),
    ...word,
  ]),
});
/** `up`: said once, before anything of the program's own is loaded. */
export const fromChild = z.union([ofRun, z.object({ up: z.literal(true) })]);
export type Up = { up: true };
export type FromChild = z.infer<typeof ofRun>;
export type Ask = Extract<Word, { kind: "ask" }>;
export type Word = z.infer<(typeof word)[number]>;
export type SaidOutcome = z.infer<typeof outcome>;
