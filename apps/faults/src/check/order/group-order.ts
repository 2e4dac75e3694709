import type { Facts, Story, Submit } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { groupsOf } from "./groups.ts";

const final = new Set<string | null>(["succeeded", "dead", "cancelled", null]);

export const groupOrder: Invariant = {
  name: "group-order",
  sentence: "In a group, a job starts only when all that were acknowledged before it was submitted have ended",
  *find(facts) {
    const places = placesOf(facts);
    for (const [group, members] of groupsOf(facts)) {
      const known = members.flatMap((story) => {
        const place = places.get(story.id);
        return place ? [{ id: story.id, ...place, ...firstsOf(story) }] : [];
      });
      const byInvoke = known.toSorted((a, b) => a.invoked_ms - b.invoked_ms);
      const byAnswer = known.toSorted((a, b) => a.answered_ms - b.answered_ms);
      let at = 0;
      let latest: (typeof known)[number] | undefined;
      for (const job of byInvoke) {
        for (; (byAnswer[at]?.answered_ms ?? Infinity) < job.invoked_ms; at += 1) {
          const earlier = byAnswer[at];
          if (earlier && (!latest || earlier.ended_ms > latest.ended_ms)) latest = earlier;
        }
        if (latest && latest.id !== job.id && job.started_ms < latest.ended_ms)
          yield { job: job.id, evidence: `of ${group}, it started before ${latest.id}, which came first, had ended` };
      }
    }
  },
};

/** Where the order is promised: not for those that get their place later, after a caller's commit or their parents' end. */
function placesOf({ submits }: Facts): Map<string, { invoked_ms: number; answered_ms: number }> {
  const places = new Map<string, { invoked_ms: number; answered_ms: number }>();
  const inPlace = ({ via, row, known }: Submit) =>
    known === "ok" && row === undefined && via !== "spawn" && via !== "transaction";
  for (const submit of submits) {
    if (!inPlace(submit)) continue;
    for (const { nonce, kind, unique } of submit.jobs) {
      const answer = submit.answers.get(nonce);
      if (answer?.job === undefined || answer.created !== true || kind === "flow" || unique !== undefined) continue;
      places.set(answer.job, { invoked_ms: submit.from_ms, answered_ms: submit.to_ms });
    }
  }
  return places;
}

/** When it was first claimed and when it first ended: what people have start anew goes behind the others. */
function firstsOf({ moves }: Story): { started_ms: number; ended_ms: number } {
  const started = moves.find(({ status }) => status === "running");
  const ended = moves.find(({ status }) => final.has(status));
  return { started_ms: started?.at_ms ?? Infinity, ended_ms: ended?.at_ms ?? Infinity };
}
