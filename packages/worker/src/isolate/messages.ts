import type { Lease } from "@atlasqueue/core";
import type { Outcome } from "../outcome.ts";

/** A job for a child process. `log_level` is that of the worker's logger. */
export type Task = { module: string; lease: Lease; log_level: string };

export type ToChild = { kind: "run"; run: number; task: Task } | { kind: "abort"; run: number; reason: string };

/** What a handler says on its way. */
export type Word = { kind: "logged"; line: string };
export type FromChild = { kind: "outcome"; outcome: Outcome } | Word;
