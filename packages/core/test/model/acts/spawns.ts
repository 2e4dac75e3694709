import { expect } from "vitest";
import type { Lease } from "../../../src/lease/lease.ts";
import { completeWithChildren } from "../../../src/settle/complete-with-children.ts";
import { leasesOf, submissionOf } from "../real.ts";
import { spawn } from "../spawning.ts";
import type { AskedOfFlow } from "../submitting.ts";
import { one, some, someLeases, type Act } from "./choices.ts";
import { anyRequest, learn } from "./submits.ts";

/** A job adds others as it succeeds. */
export const spawns: Record<string, Act> = {
  spawn: async (model, real, draw) => {
    for (const lease of someLeases(model, draw, 1)) {
      const policies = ["cancel", "wait", "run"] as const;
      const asked = Array.from({ length: 1 + draw(2) }, (_, at): AskedOfFlow => {
        const places = at === 0 || draw(2) === 0 ? [] : some(draw, [...Array(at).keys()], 1);
        return { ...anyRequest(draw), places, jobs: [], policy: one(draw, policies) };
      });
      const dependants_wait = draw(2) === 0;
      const children = asked.map(({ places, jobs: _jobs, policy, ...request }, at) => ({
        ...submissionOf(request),
        ref: `r${at}`,
        depends_on: places.map((place) => `r${place}`),
        on_parent_failure: policy,
      }));
      const completion = { lease: leasesOf(real, [lease])[0] as Lease, result: null };
      const outcome = await completeWithChildren(real.deps, completion, { children, dependants_wait });
      const { made, ...expected } = spawn(model, lease, asked, dependants_wait);
      expect(outcome).toMatchObject(expected);
      learn(
        real,
        made.map((job) => ({ kind: "created", job })),
        outcome.kind === "applied" ? outcome.children : [],
      );
    }
  },
};
