import type { Facts } from "./facts.ts";
import type { Violation } from "./invariant.ts";
import { invariants } from "./invariants.ts";

/** What was found of one invariant: how often, and the first few; and what was excused, by kind. */
export type Finding = {
  name: string;
  sentence: string;
  violations: number;
  first: Violation[];
  excused: Record<string, number>;
};

const shown_max = 10;

/**
 * Ask every invariant of the facts. None is left out because another was violated.
 *
 * @example
 * const broken = check(facts).filter(({ violations }) => violations > 0);
 */
export function check(facts: Facts): Finding[] {
  return invariants.map(({ name, sentence, find }) => {
    const finding: Finding = { name, sentence, violations: 0, first: [], excused: {} };
    const excuse = (kind: string) => void (finding.excused[kind] = (finding.excused[kind] ?? 0) + 1);
    for (const violation of find(facts, excuse)) {
      finding.violations += 1;
      if (finding.first.length < shown_max) finding.first.push(violation);
    }
    return finding;
  });
}
