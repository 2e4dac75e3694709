import type { Story } from "../facts.ts";
import type { Invariant } from "../invariant.ts";

/** One that came in with a caller's transaction and learned that its key was taken never had a turn. */
const neverStood = ({ moves }: Story) => moves.every(({ status }) => status === "blocked" || status === "cancelled");

export const oneIdPerKey: Invariant = {
  name: "one-id-per-key",
  sentence: "An idempotency key has one job, whoever asks and however often",
  *find({ submits, stories, final }) {
    const told = new Map<string, string>();
    const keyOf = new Map<string, string>();
    for (const { jobs, answers, via } of submits)
      for (const { nonce, key, tenant } of jobs) {
        if (key === undefined) continue;
        const named = `${tenant} ${key}`;
        keyOf.set(nonce, named);
        const job = answers.get(nonce)?.job;
        // A transaction of the caller's own gets its key only after its commit: until then it is told its own id.
        if (job === undefined || via === "transaction") continue;
        const other = told.get(named);
        if (other !== undefined && other !== job)
          yield { job, evidence: `the key ${named} was answered with ${other} as well` };
        told.set(named, job);
      }
    const stored = new Map<string, string>();
    for (const [job, story] of stories) {
      const nonce = story.moves[0]?.was === null ? story.moves[0].nonce : null;
      const named = nonce === null ? undefined : keyOf.get(nonce);
      if (named === undefined || neverStood(story)) continue;
      const other = stored.get(named);
      if (other !== undefined) yield { job, evidence: `the key ${named} made ${other} as well` };
      stored.set(named, job);
    }
    for (const { tenant, key, job } of final.keys) {
      const answered = told.get(`${tenant} ${key}`);
      if (answered !== undefined && answered !== job)
        yield { job, evidence: `the key ${tenant} ${key} stands for it, and was answered with ${answered}` };
    }
  },
};
