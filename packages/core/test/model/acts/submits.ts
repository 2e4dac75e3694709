import { expect } from "vitest";
import { executeIn } from "../../../src/database/caller-transaction.ts";
import { submitFlow } from "../../../src/flows/submit-flow.ts";
import { submitInside, type InsideOutcome } from "../../../src/submit/pending/submit-inside.ts";
import { enqueueAll } from "../../../src/submit/enqueue-all.ts";
import { enqueue } from "../../../src/submit/enqueue.ts";
import type { EnqueueOutcome } from "../../../src/submit/outcome.ts";
import { idsOf, options, submissionOf, type Real } from "../real.ts";
import * as submitting from "../submitting.ts";
import type { Answer, Asked, AskedOfFlow } from "../submitting.ts";
import { jobsIn, one, queues, some, type Act, type Draw } from "./choices.ts";

export function anyRequest(draw: Draw): Asked {
  return {
    queue: one(draw, queues),
    group: one(draw, [null, null, "g", "g", "h"]),
    delay_seconds: one(draw, [null, null, null, 10]),
    priority: one(draw, [0, 0, 5]),
    max_attempts: one(draw, [1, 3]),
    key: null,
    unique: null,
  };
}
const withKey = (draw: Draw): Asked => ({ ...anyRequest(draw), key: one(draw, ["k1", "k2"]) });

/** The numbers of the model for the ids of what was made. */
export function learn(
  real: Real,
  answers: readonly Answer[],
  outcomes: readonly (EnqueueOutcome | InsideOutcome)[],
): void {
  expect(outcomes.map(({ kind }) => kind)).toEqual(answers.map(({ kind }) => kind));
  answers.forEach(({ kind, job }, at) => {
    const outcome = outcomes[at] as EnqueueOutcome | InsideOutcome;
    const id = "job" in outcome ? outcome.job.id : "job_id" in outcome ? outcome.job_id : undefined;
    if (kind === "created" && job !== undefined) real.ids[job] = id ?? "";
    expect(id).toBe(job === undefined ? undefined : real.ids[job]);
  });
}

/** Jobs come in. */
export const submits: Record<string, Act> = {
  submit: async (model, real, draw) => {
    const asked = anyRequest(draw);
    learn(real, [submitting.submitOne(model, asked)], await enqueue(real.deps, [submissionOf(asked)], options));
  },
  "submit one that expires": async (model, real, draw) => {
    const asked = { ...anyRequest(draw), expires_in: one(draw, [5, 10, 60]) };
    learn(real, [submitting.submitOne(model, asked)], await enqueue(real.deps, [submissionOf(asked)], options));
  },
  "submit with a key": async (model, real, draw) => {
    const asked = withKey(draw);
    learn(real, [submitting.submitOne(model, asked)], await enqueue(real.deps, [submissionOf(asked)], options));
  },
  "submit unique": async (model, real, draw) => {
    const unique = {
      key: one(draw, ["u", "v"]),
      on_conflict: one(draw, ["return", "reject", "replace"] as const),
      window_seconds: one(draw, [null, null, 10, 40]),
    };
    const asked = { ...anyRequest(draw), unique, key: one(draw, [null, null, "k3"]) };
    learn(real, [submitting.submitOne(model, asked)], await enqueue(real.deps, [submissionOf(asked)], options));
  },
  "submit a batch": async (model, real, draw) => {
    const all = [anyRequest(draw), withKey(draw), anyRequest(draw)];
    const answers = submitting.submitAll(model, all);
    const outcome = await enqueueAll(real.deps, all.map(submissionOf), options);
    if (answers === "mismatch") expect(outcome.kind).toBe("mismatch");
    else learn(real, answers, outcome.kind === "stored" ? outcome.outcomes : []);
  },
  "submit inside": async (model, real, draw) => {
    const asked = { ...withKey(draw), ...(draw(2) === 0 && { key: null }) };
    const answer = submitting.submitInside(model, asked);
    const inside = await real.sql.begin((tx) => submitInside(executeIn(tx), submissionOf(asked), options));
    learn(real, [answer], [inside]);
  },
  "submit a flow": async (model, real, draw) => {
    const policies = ["cancel", "wait", "run"] as const;
    const asked = Array.from({ length: 2 + draw(3) }, (_, at): AskedOfFlow => {
      const places = at === 0 ? [] : some(draw, [...Array(at).keys()], 2).filter(() => at === 1 || draw(3) > 0);
      const known = jobsIn(model, draw, 1).filter((n) => model.jobs.has(n));
      const jobs = draw(4) === 0 && at > 0 ? known : [];
      return { ...anyRequest(draw), places, jobs, policy: one(draw, policies) };
    });
    const jobs = asked.map(({ places, jobs: earlier, policy, ...request }, at) => ({
      ...submissionOf(request),
      ref: `r${at}`,
      depends_on: [...places.map((place) => `r${place}`), ...idsOf(real, earlier)],
      on_parent_failure: policy,
    }));
    const made = submitting.submitFlow(model, asked);
    const outcome = await submitFlow(real.deps, { jobs }, options);
    const answers = made.map((job) => ({ kind: "created", job }));
    learn(real, answers, outcome.kind === "stored" ? outcome.outcomes : []);
  },
};
