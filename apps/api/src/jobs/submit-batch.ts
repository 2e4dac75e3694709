import { submitBatch as submitBatchBody, submittedBatch, type SubmitBatch } from "@atlasqueue/contract";
import { flowOf } from "@atlasqueue/core/internal";
import { answerOf, flowFaults, underOneKey } from "@atlasqueue/core/internal/http";
import { invalid } from "../http/answers/problem.ts";
import { exampleFlow, exampleId } from "../route/examples.ts";
import { route } from "../route/route.ts";
import { admitJobs } from "./admit-jobs.ts";
import { keyFaults, pointerAt, refusalOf } from "./batch-refusals.ts";

export const submitBatch = route(
  {
    at: "POST /v1/jobs/batch",
    id: "submitJobs",
    tag: "Jobs",
    summary: "Submit a batch of jobs, or a flow",
    description:
      "Jobs of one group run in the order of the list. Either each job has its `idempotency_key`, or the header " +
      "`Idempotency-Key` stands for the whole batch: the same batch sent again under it answers the same ids.\n\n" +
      "A job with `depends_on` waits until the jobs it names have succeeded: others of the batch, by the `ref` each has " +
      "given itself, or jobs that exist, by their ids. If one of them is dead or cancelled, `on_parent_failure` says what " +
      "becomes of the job: it is cancelled too (`cancel`, the default), waits until that one is replayed and succeeds " +
      "(`wait`), or runs all the same (`run`). `then` is a job that waits for all jobs of the batch, however they end. " +
      "Such a batch is a flow, and takes its key in the header. `run_at` and `delay_seconds` count from the submission: a " +
      "job whose time has come when it need not wait any more runs at once. It enters its group only then.",
    scope: "submit",
    request: {
      idempotency_key: "optional",
      body: { schema: submitBatchBody, example: exampleFlow },
    },
    permits: ({ jobs, then }: SubmitBatch) => jobs.length + (then ? 1 : 0),
    answers: {
      201: {
        description: "All are stored; in the order of the request.",
        schema: submittedBatch,
        some_headers: {
          "Idempotency-Replayed": "`true` when the header's key was used before: nothing new was stored.",
        },
        example: {
          jobs: [
            { id: exampleId, status: "queued", created: true },
            { id: exampleId, status: "blocked", created: true },
          ],
          flow_id: exampleId,
          then: { id: exampleId, status: "blocked", created: true },
        },
      },
    },
    problems: ["idempotency_mismatch", "unique_conflict", "too_many_queues", "storage_full"],
  },
  async ({ deps, tenant, body, bytes, idempotency_key: key, trace }) => {
    const asked = flowOf(body, { tenant, trace });
    const faults = [...keyFaults(asked, key), ...flowFaults(asked)];
    if (faults.length > 0) throw invalid(faults);
    const flow = key === undefined ? asked : underOneKey(asked, key);
    const all = flow.then ? [...flow.jobs, flow.then] : flow.jobs;
    await admitJobs(deps, { tenant, bytes }, all, (at) => pointerAt(flow, at));
    const outcome = await deps.submitter.submitFlow(flow);
    if (outcome.kind !== "stored") throw refusalOf(outcome, flow, key);
    const again = key !== undefined && outcome.outcomes.every(({ kind }) => kind === "replayed");
    const headers: Record<string, string> = again ? { "idempotency-replayed": "true" } : {};
    return { status: 201, body: answerOf(flow, outcome.outcomes), headers };
  },
);
