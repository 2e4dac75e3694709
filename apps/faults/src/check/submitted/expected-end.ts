import type { Invariant } from "../invariant.ts";

export const expectedEnd: Invariant = {
  name: "expected-end",
  sentence: "A job ends as its handler makes it end, whatever breaks",
  *find({ submits, stories }) {
    const expected = new Map(submits.flatMap(({ jobs }) => jobs.map((wanted) => [wanted.nonce, wanted.ends] as const)));
    for (const [job, { moves }] of stories) {
      const nonce = moves.findLast((move) => move.nonce !== null)?.nonce ?? "";
      const ends = expected.get(nonce);
      const last = moves.at(-1);
      if (ends === undefined || ends === "any" || !last?.status) continue;
      if (last.status !== "succeeded" && last.status !== "dead" && last.status !== "cancelled") continue;
      if (last.status !== ends)
        yield { job, evidence: `${nonce} should be ${ends} and is ${last.status}: ${last.error ?? "no error"}` };
    }
  },
};
