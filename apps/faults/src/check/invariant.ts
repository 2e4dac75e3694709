import type { Facts } from "./facts.ts";

/** One thing that is not as promised. `evidence` is a sentence with all that is known of it. */
export type Violation = { job?: string; evidence: string };

/** Counts what would be a violation, had the history not shown why it is none, by the kind of what it showed. */
type Excuse = (kind: string) => void;

/** A promise as a question to the facts. It costs nothing to find none; what is let pass is counted. */
export type Invariant = { name: string; sentence: string; find(facts: Facts, excuse: Excuse): Iterable<Violation> };
