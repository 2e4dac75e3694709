import { answer_ms_max } from "../../load/answer-time.ts";
import type { Known } from "../facts.ts";
import type { Invariant } from "../invariant.ts";

export const nothingUnexpected: Invariant = {
  name: "nothing-unexpected",
  sentence: "There is no job that nobody submitted, none that was refused, and none twice",
  *find({ submits, stories, schedules }, excuse) {
    const wishes = new Map<string, { known: Known; refused: string | undefined; took_ms: number }>();
    for (const { jobs, known, answers, from_ms, to_ms } of submits)
      for (const { nonce } of jobs)
        wishes.set(nonce, { known, refused: answers.get(nonce)?.refused, took_ms: to_ms - from_ms });
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
      else if (wish.refused === "ConflictError" && wish.took_ms >= answer_ms_max)
        excuse("stored by a try without an answer, when a later one had been refused");
      else if (wish.refused !== undefined)
        yield { job, evidence: `${nonce} was stored, and refused as ${wish.refused}` };
      const other = nonce === null ? undefined : made.get(nonce);
      if (other !== undefined) yield { job, evidence: `${nonce} is job ${other} as well` };
      if (nonce !== null) made.set(nonce, job);
    }
  },
};
