import {
  jobId,
  limits,
  sendSignalAnswer,
  sendSignalRequest,
  stepName,
  type SendSignalAnswer,
  jobSteps,
  type JobSteps,
} from "@atlasqueue/contract";
import { sendSignal, findJobStepsText } from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { ProblemError, unknownJob } from "../http/answers/problem.ts";
import { refused } from "../jobs/refused.ts";
import { requireSmall } from "../http/body/body.ts";
import { ok, jobPath } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { exampleLockedUntil } from "../route/examples.ts";

type Input = { path: { name: string } };
const ask = ({ path: { name } }: Input) => ({ detail: { signal: name } });
/** A signal that does not count has changed nothing. */
const tell = (input: Input, { outcome }: SendSignalAnswer) => (outcome === "sent" ? ask(input) : undefined);

export const signal = route(
  {
    at: "POST /v1/jobs/{id}/signals/{name}",
    id: "sendSignal",
    audit: { action: "job.signal", asks: ask, tells: tell },
    tag: "Jobs",
    summary: "Send a signal to a job",
    description:
      "A job that waits for it is queued at once; for any other that is not final it is kept until it waits for it. " +
      "`sent_before`: the first of a name counts, and this was not it. `too_late`: the job has waited for it until its " +
      "time was over. A payload may have " +
      `${limits.payload_bytes_max} bytes of JSON, and all of a job's ${limits.signals_bytes_max}.`,
    scope: "submit",
    request: {
      path: z.strictObject({ id: jobId, name: stepName }),
      idempotency_key: "optional",
      body: { schema: sendSignalRequest, example: { payload: { by: "ada" } } },
    },
    answers: ok("What became of it.", sendSignalAnswer, { outcome: "sent" }),
    problems: ["not_found", "job_finished", "storage_full"],
  },
  async ({ deps, tenant, path: { id, name }, body, bytes, repeated }) => {
    if (repeated) return { outcome: "sent" as const };
    requireSmall(body.payload, "/payload", bytes, deps.payload_bytes_max);
    await deps.storageQuota.admit(tenant, { bytes, jobs: 1, keys: [] });
    const outcome = await sendSignal(deps, tenant, id, name, body.payload ?? null);
    switch (outcome.kind) {
      case "sent":
        if (outcome.woken) await deps.followUps.woken(outcome.job);
        return { outcome: "sent" as const };
      case "sent_before":
      case "too_late":
        return { outcome: outcome.kind };
      case "finished":
        throw new ProblemError("job_finished", `The job is ${outcome.status} already`);
      case "full":
        throw new ProblemError("too_large", "The job was sent as many signals as it may be, or as large ones");
      default:
        return refused(outcome);
    }
  },
);

const content_type = "application/json";
const example: JobSteps = {
  steps: [{ name: "charge", result: { charge_id: "ch_17" }, attempt: 1, finished_at: exampleLockedUntil }],
  signals: [{ name: "approved", payload: { by: "ada" }, sent_at: exampleLockedUntil }],
  waits: [{ name: "approved", until: exampleLockedUntil }],
};

export const read = route(
  {
    at: "GET /v1/jobs/{id}/steps",
    id: "listSteps",
    tag: "Jobs",
    summary: "List a job's steps and signals",
    description:
      "What its handler has done and keeps through retries, the signals it was sent, and those it waited for.",
    scope: "read",
    request: { path: jobPath },
    answers: { 200: { description: "Each in its order.", schema: jobSteps, content_type, example } },
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { id } }) => ({
    body: (await findJobStepsText(deps, tenant, id)) ?? unknownJob(),
    content_type,
  }),
);
