import type { Facts } from "./facts.ts";
import type { Violation } from "./invariant.ts";
import { invariants } from "./invariants.ts";

/** What was found of one invariant: how often, and the first few. */
export type Finding = { name: string; sentence: string; violations: number; first: Violation[] };

const shown_max = 10;

/**
 * Ask every invariant of the facts. None is left out because another was violated.
 *
 * @example
 * const broken = check(facts).filter(({ violations }) => violations > 0);
 */
export function check(facts: Facts): Finding[] {
  return invariants.map(({ name, sentence, find }) => {
    const finding: Finding = { name, sentence, violations: 0, first: [] };
    for (const violation of find(facts)) {
      finding.violations += 1;
      if (finding.first.length < shown_max) finding.first.push(violation);
    }
    return finding;
  });
}
