import type { Invariant } from "../invariant.ts";
import { wasCutOff } from "../trouble.ts";

/** How long a program may take to start on a busy machine. */
const start_ms_max = 20_000;

export const runWhole: Invariant = {
  name: "run-whole",
  sentence:
    "No program ended by itself, unless it could not reach PostgreSQL as it started, and the run came to its quiet end",
  *find(facts, excuse) {
    const { lives, quiet, submits } = facts;
    for (const life of lives) {
      const { name, victim, code, signal, from_ms, to_ms } = life;
      if (victim) continue;
      // As documented: it says so in one line, and its supervisor starts it again.
      if (code === 1 && to_ms - from_ms < start_ms_max && wasCutOff(facts, name, life))
        excuse("it could not reach PostgreSQL as it started");
      else yield { evidence: `${name} ended by itself with ${signal ?? code}` };
    }
    if (!quiet || quiet.to_ms === Infinity)
      yield { evidence: "there was no quiet at the end, so nothing is known of it" };
    if (submits.length === 0) yield { evidence: "nothing was submitted, so nothing is proved" };
  },
};
