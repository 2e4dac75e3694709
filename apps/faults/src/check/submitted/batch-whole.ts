import type { Invariant } from "../invariant.ts";

export const batchWhole: Invariant = {
  name: "batch-whole",
  sentence: "A batch is stored as a whole, in one transaction, or not at all",
  *find({ submits, stories }) {
    const made = new Map<string, { job: string; transaction: string }>();
    for (const [job, { moves }] of stories) {
      const [first] = moves;
      if (first?.was === null && first.nonce !== null) made.set(first.nonce, { job, transaction: first.transaction });
    }
    for (const { batch, jobs, answers, known } of submits) {
      if (batch === undefined) continue;
      // What was there before, under a key of its own, is no part of it.
      const own = jobs.filter(({ nonce }) => known !== "ok" || (answers.get(nonce)?.created ?? true));
      const stored = own.flatMap(({ nonce }) => made.get(nonce) ?? []);
      if (stored.length > 0 && stored.length < own.length)
        yield { job: stored[0]?.job ?? "", evidence: `${stored.length} of ${own.length} jobs of ${batch} were stored` };
      const transactions = new Set(stored.map(({ transaction }) => transaction));
      if (transactions.size > 1)
        yield { job: stored[0]?.job ?? "", evidence: `${batch} was stored in ${transactions.size} transactions` };
    }
  },
};
