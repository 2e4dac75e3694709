import type { Json } from "@atlasqueue/contract";
import type { Lease } from "@atlasqueue/core";
import type { Outcome } from "../outcome.ts";

/** A job for a child process. `log_level` is that of the worker's logger. */
export type Task = { module: string; lease: Lease; log_level: string };

export type ToChild = { kind: "run"; run: number; task: Task } | { kind: "abort"; run: number; reason: string };

/** What a handler says on its way. */
export type Word =
  /** A line of its logger, as JSON. */
  { kind: "logged"; line: string } | { kind: "line"; line: string } | { kind: "progress"; progress: Json };
/** `begun`: the module is loaded, and the handler is called. `run`: what an earlier job left behind speaks for nobody. */
export type FromChild = { run: number } & ({ kind: "begun" } | { kind: "outcome"; outcome: Outcome } | Word);
