import type { Story } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { forgotten, mayBeForgotten } from "../trouble.ts";

/** What a caller was answered, and when. */
type Told = { job: string; at_ms: number };

/** One that came in with a caller's transaction and learned that its key was taken never had a turn. */
const neverStood = ({ moves }: Story) => moves.every(({ status }) => status === "blocked" || status === "cancelled");

export const oneIdPerKey: Invariant = {
  name: "one-id-per-key",
  sentence: "An idempotency key has one job, whoever asks and however often",
  *find(facts, excuse) {
    const { submits, stories, final } = facts;
    /** Acknowledged, and lost again: its key is free for another. */
    const lost = ({ job, at_ms }: Told) => !stories.get(job)?.moves.length && mayBeForgotten(facts, at_ms);
    /** When it was purged or deleted: then its key is free. */
    const removedAt = (job: string) =>
      stories.get(job)?.moves.find(({ was, status }) => was !== null && status === null)?.at_ms ?? Infinity;
    const told = new Map<string, Told>();
    const keyOf = new Map<string, string>();
    for (const { jobs, answers, via, to_ms: at_ms } of submits)
      for (const { nonce, key, tenant } of jobs) {
        if (key === undefined) continue;
        const named = `${tenant} ${key}`;
        keyOf.set(nonce, named);
        const job = answers.get(nonce)?.job;
        // A transaction of the caller's own gets its key only after its commit: until then it is told its own id.
        if (job === undefined || via === "transaction") continue;
        const other = told.get(named);
        const one = { job, at_ms };
        if (other !== undefined && other.job !== job && removedAt(other.job) > at_ms) {
          if (lost(one) || lost(other)) excuse(forgotten);
          else yield { job, evidence: `the key ${named} was answered with ${other.job} as well` };
        }
        if (other === undefined || !lost(one)) told.set(named, one);
      }
    const stored = new Map<string, string>();
    for (const [job, story] of stories) {
      const nonce = story.moves[0]?.was === null ? story.moves[0].nonce : null;
      const named = nonce === null ? undefined : keyOf.get(nonce);
      if (named === undefined || neverStood(story)) continue;
      const other = stored.get(named);
      const stored_at = story.moves[0]?.at_ms ?? Infinity;
      if (other !== undefined && removedAt(other) > stored_at)
        yield { job, evidence: `the key ${named} made ${other} as well` };
      stored.set(named, job);
    }
    for (const { tenant, key, job } of final.keys) {
      const answered = told.get(`${tenant} ${key}`);
      if (answered === undefined || answered.job === job) continue;
      if (lost(answered)) excuse(forgotten);
      else yield { job, evidence: `the key ${tenant} ${key} stands for it, and was answered with ${answered.job}` };
    }
  },
};
