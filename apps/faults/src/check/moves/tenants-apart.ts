import type { Invariant } from "../invariant.ts";

export const tenantsApart: Invariant = {
  name: "tenants-apart",
  sentence: "No tenant sees or moves what is another's, and no job changes its tenant or is worked for another",
  *find({ stories, submits, trespasses }) {
    for (const { tenant, jobs, about, seen } of trespasses)
      if (seen) yield { job: jobs[0] ?? "", evidence: `${tenant} was let in: ${about}` };
    const owners = new Map(submits.flatMap(({ jobs }) => jobs.map(({ nonce, tenant }) => [nonce, tenant] as const)));
    for (const [job, { moves }] of stories) {
      const [first] = moves;
      const owner = first?.nonce === null || first === undefined ? undefined : owners.get(first.nonce);
      if (first && owner !== undefined && owner !== first.tenant)
        yield { job, evidence: `${first.nonce} of ${owner} was stored as ${first.tenant}'s` };
      for (const { tenant } of moves)
        if (tenant !== first?.tenant) yield { job, evidence: `it went from ${first?.tenant} to ${tenant}` };
    }
  },
};
