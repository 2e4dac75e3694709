import type { Fault } from "@atlasqueue/contract";
import { composed } from "../../database/composed.ts";
import { isUuid } from "../../database/literals.ts";
import type { Execute } from "../../database/statement.ts";
import type { Flow, FlowJob } from "../../flows/flow.ts";
import type { Submission } from "../outcome.ts";
import { withState } from "./submit-inside.ts";

/**
 * Store jobs that wait for one another in a transaction that is not ours, and may stay open for long: the function
 * `submit_flow` of the database only inserts. Returns the jobs in their order, and `then` as the last. It must be a flow
 * without `insideFaults`. `submissions` are its jobs, each with its place in a trace.
 *
 * @example
 * const jobs = await submitFlowInside(executeIn(tx), flow, jobsOf(flow));
 */
export async function submitFlowInside(
  execute: Execute,
  flow: Flow,
  submissions: readonly Submission[],
): Promise<readonly { id: string }[]> {
  const members = submissions.map(({ request, trace }, at) => {
    const { ref, depends_on, on_parent_failure }: Partial<FlowJob> = flow.jobs[at] ?? {};
    return { ...request, ref, depends_on, on_parent_failure, ...withState(trace) };
  });
  const jobs = members.slice(0, flow.jobs.length);
  const options = { tenant: submissions[0]?.tenant, then: flow.then && members.at(-1) };
  return execute<{ id: string }>({ text, params: [JSON.stringify(jobs), JSON.stringify(options)] });
}

/**
 * What the function refuses and `flowFaults` does not. An existing job would have to be locked until the caller's commit,
 * and a job that waits gets no unique key.
 */
export function insideFaults({ jobs, then }: Flow): Fault[] {
  const ids = jobs.flatMap(({ depends_on = [] }, at) => {
    const nth = depends_on.findIndex((name) => isUuid(name));
    return nth < 0
      ? []
      : [{ pointer: `/jobs/${at}/depends_on/${nth}`, message: "must be the ref of a job in this list" }];
  });
  const waiting = [
    ...jobs.map((job, at) => ({ job, pointer: `/jobs/${at}`, waits: (job.depends_on ?? []).length > 0 })),
    ...(then ? [{ job: then, pointer: "/then", waits: true }] : []),
  ];
  const unique = waiting.flatMap(({ job, pointer, waits }) =>
    waits && job.request.unique
      ? [{ pointer: `${pointer}/unique`, message: "must be left out for a job that waits for others" }]
      : [],
  );
  const isKeyed = jobs.some(({ idempotency_key }) => idempotency_key !== undefined);
  const message = "must be left out, as your transaction stores the flow once";
  return [...(isKeyed ? [{ pointer: "/idempotency_key", message }] : []), ...ids, ...unique];
}

const text = composed(
  "submit/inside-flow",
  ["jobs", "options"],
  "SELECT id FROM unnest(atlasqueue.submit_flow((SELECT $1::text::json), (SELECT $2::text::jsonb))) AS made(id)",
);
