import type { Invariant } from "../invariant.ts";

export const runWhole: Invariant = {
  name: "run-whole",
  sentence: "No program ended that nobody had ended, and the run came to its quiet end",
  *find({ lives, quiet, submits }) {
    for (const { name, victim, code, signal } of lives)
      if (!victim && (code !== 0 || signal !== null))
        yield { evidence: `${name} ended by itself with ${signal ?? code}` };
    if (!quiet || quiet.to_ms === Infinity)
      yield { evidence: "there was no quiet at the end, so nothing is known of it" };
    if (submits.length === 0) yield { evidence: "nothing was submitted, so nothing is proved" };
  },
};
