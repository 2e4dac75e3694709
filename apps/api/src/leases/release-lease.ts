import { releaseLeaseAnswer, releaseLeaseRequest } from "@atlasqueue/contract";
import { releaseLease as releaseOf } from "@atlasqueue/core/internal/http";
import { exampleToken } from "../route/examples.ts";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

export const releaseLease = route(
  {
    at: "POST /v1/leases/release",
    id: "releaseLease",
    tag: "Leases",
    summary: "Release all jobs of a lease",
    description:
      "For a worker that got no response to its lease, or to a settlement with `next`: all jobs leased under the " +
      "`lease_token` that it sent are ready again, in their old place, and no attempt is counted. Nothing is leased under that " +
      "token any more, even if the lease is still on its way. Repeat it until it succeeds: the second time it changes " +
      "nothing. If another transaction has locked a job of it, the response is 503, and the others are released.",
    scope: "work",
    gate: "lease",
    request: { body: { schema: releaseLeaseRequest, example: { lease_token: exampleToken } } },
    answers: ok("How many jobs were released.", releaseLeaseAnswer, { released: 1 }),
  },
  async ({ deps, tenant, body: { lease_token } }) => ({ released: await releaseOf(deps, tenant, lease_token) }),
);
