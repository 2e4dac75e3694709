import type { MadeUpRun } from "../made-up-run.ts";

/** What violates an invariant when it is added to a good run, and what is said of it. */
export type Violation = readonly [name: string, evidence: RegExp, act: (run: MadeUpRun) => unknown];
