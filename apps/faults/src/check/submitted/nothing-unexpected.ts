import type { Known } from "../facts.ts";
import type { Invariant } from "../invariant.ts";

export const nothingUnexpected: Invariant = {
  name: "nothing-unexpected",
  sentence: "There is no job that nobody submitted, none that was refused, and none twice",
  *find({ submits, stories, schedules }, excuse) {
    const wishes = new Map<string, { known: Known; refused: string | undefined; unanswered: boolean }>();
    for (const { jobs, known, answers } of submits)
      for (const { nonce } of jobs) {
        const { refused, unanswered = false } = answers.get(nonce) ?? {};
        wishes.set(nonce, { known, refused, unanswered });
      }
    const slots = new Set(schedules.map(({ name }) => name));
    const made = new Map<string, string>();
    for (const [job, { moves }] of stories) {
      const [first] = moves;
      // Its handlers' lines alone: that there was no such job is for another to say.
      if (!first || first.was !== null) continue;
      const { nonce } = first;
      if (nonce !== null && slots.has(nonce)) continue;
      const wish = nonce === null ? undefined : wishes.get(nonce);
      if (!nonce || !wish) yield { job, evidence: `nobody submitted it (nonce ${nonce})` };
      else if (wish.known === "fail")
        yield { job, evidence: `${nonce} was stored, and its submitter told that it was not` };
      // Asked again, it met another job with its unique key; when that had ended, what was asked first was stored.
      else if (isConflict(wish.refused) && wish.unanswered)
        excuse("stored by a try without an answer, when a later one had been refused");
      else if (wish.refused !== undefined)
        yield { job, evidence: `${nonce} was stored, and refused as ${wish.refused}` };
      const other = nonce === null ? undefined : made.get(nonce);
      if (other !== undefined) yield { job, evidence: `${nonce} is job ${other} as well` };
      if (nonce !== null) made.set(nonce, job);
    }
  },
};

/** The client's name for it, and the library's. */
const isConflict = (refused: string | undefined) => refused === "ConflictError" || refused === "UniqueConflictError";
