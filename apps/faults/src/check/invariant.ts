import type { Facts } from "./facts.ts";

/** One thing that is not as promised. `evidence` is a sentence with all that is known of it. */
export type Violation = { job?: string; evidence: string };

/** A promise as a question to the facts. It costs nothing to find none. */
export type Invariant = { name: string; sentence: string; find(facts: Facts): Iterable<Violation> };
