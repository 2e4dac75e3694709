import { releaseLeaseAnswer, releaseLeaseRequest } from "@atlasqueue/contract";
import { releaseLease as giveBack } from "@atlasqueue/core/internal/http";
import { exampleToken } from "../route/examples.ts";
import { route } from "../route/route.ts";

export const releaseLease = route(
  {
    method: "post",
    path: "/v1/leases/release",
    id: "releaseLease",
    tag: "Work",
    summary: "Give back all jobs of a lease",
    description:
      "For a worker that got no answer to its lease, or to a settlement with `next`: whatever was leased under the " +
      "`lease_token` it had sent is ready again, in its old place, and no attempt is spent. Nothing is leased under that " +
      "token any more, even if the lease is still on its way. Send it until it is answered: the second time it changes " +
      "nothing. While somebody has a job of it locked in the database the answer is 503; the others have gone back.",
    scope: "work",
    gate: "lease",
    request: { body: { schema: releaseLeaseRequest, example: { lease_token: exampleToken } } },
    answers: {
      200: { description: "How many jobs went back now.", schema: releaseLeaseAnswer, example: { released: 1 } },
    },
    problems: [],
  },
  async ({ deps, tenant, body: { lease_token } }) => ({ released: await giveBack(deps, tenant, lease_token) }),
);
