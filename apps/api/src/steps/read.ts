import { jobSteps, type JobSteps } from "@atlasqueue/contract";
import { findJobStepsText } from "@atlasqueue/core/internal/http";
import { unknownJob } from "../http/answers/problem.ts";
import { exampleLockedUntil } from "../route/examples.ts";
import { jobPath } from "../route/answers.ts";
import { route } from "../route/route.ts";

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
