import {
  jobId,
  limits,
  parkAnswer,
  parkRequest,
  stepName,
  storedStep,
  storeStepRequest,
  type ParkAnswer,
} from "@atlasqueue/contract";
import { park as parkJob, storeStep } from "@atlasqueue/core/internal";
import { z } from "zod";
import { ProblemError } from "../http/answers/problem.ts";
import { refused } from "../jobs/refused.ts";
import { requireSmall } from "../http/body/body.ts";
import { exampleLockedUntil, exampleToken } from "../route/examples.ts";
import { jobPath, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

const lease_token = exampleToken;
const result = { charge_id: "ch_17" };

export const store = route(
  {
    at: "PUT /v1/jobs/{id}/steps/{name}",
    id: "storeStep",
    tag: "Leases",
    summary: "Store the result of a step",
    description:
      "It comes with every later lease of the job, so that a retry need not do the step again. The first result of a name " +
      `stays, and is the answer. A result may have ${limits.result_bytes_max} bytes of JSON, all of a job's ` +
      `${limits.steps_bytes_max}; a job may have ${limits.steps_max} steps.`,
    scope: "work",
    gate: "lease",
    request: {
      path: z.strictObject({ id: jobId, name: stepName }),
      body: { schema: storeStepRequest, example: { lease_token, result } },
    },
    answers: ok("What is kept under the name.", storedStep, { result }),
    problems: ["not_found", "lease_lost"],
  },
  async ({ deps, tenant, path: { id, name }, body, bytes }) => {
    requireSmall(body.result, "/result", bytes, limits.result_bytes_max);
    const job = { id, tenant, lease_token: body.lease_token };
    const outcome = await storeStep(deps, job, name, body.result ?? null);
    if (outcome.kind === "full")
      throw new ProblemError("too_large", "The job has as many steps as it may have, or as large ones");
    return outcome.kind === "stored" ? { result: outcome.result } : refused(outcome);
  },
);

const parked: ParkAnswer = { outcome: "parked", until: exampleLockedUntil };

export const park = route(
  {
    at: "POST /v1/jobs/{id}/park",
    id: "parkJob",
    tag: "Leases",
    summary: "Park a job until a signal",
    description:
      "`parked`: the lease is over, and the attempt does not count. The job is leased again when the signal comes or the " +
      "time is over, which counts from its first wait for this signal; ask again then. `signalled`: the signal is there. " +
      "`timed_out`: the time is over, and the signal does not count any more. After either, the lease still holds. " +
      `A job may wait for ${limits.waits_max} different signals.`,
    scope: "work",
    gate: "lease",
    request: {
      path: jobPath,
      body: { schema: parkRequest, example: { lease_token, signal: "approved", timeout_seconds: 86_400 } },
    },
    answers: ok("Whether it waits, or what came of it.", parkAnswer, parked),
    problems: ["not_found", "lease_lost"],
  },
  async ({ deps, tenant, path: { id }, body: { lease_token: token, signal, timeout_seconds } }) => {
    const outcome = await parkJob(deps, { id, tenant, lease_token: token }, signal, timeout_seconds);
    switch (outcome.kind) {
      case "parked": {
        const until = outcome.until.toISOString();
        deps.followUps.parked({ tenant, queue: outcome.queue, limited: true }, outcome.until, token);
        return { outcome: "parked" as const, until };
      }
      case "signalled":
        return { outcome: "signalled" as const, payload: outcome.payload };
      case "timed_out":
        return { outcome: "timed_out" as const };
      case "full":
        throw new ProblemError("too_large", `The job has waited for ${limits.waits_max} signals, as many as it may`);
      default:
        return refused(outcome);
    }
  },
);
