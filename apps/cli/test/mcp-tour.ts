import { eventually } from "@atlasqueue/harness";
import { expect } from "vitest";
import type { Answer, Speaker } from "./mcp-world.ts";

/**
 * Calls every tool at least once, in the order in which somebody would: jobs come in, are looked at, done, fail, are
 * replayed. Returns the names of the tools it called.
 *
 * @example
 * const called = await tour(speaker, "tour-1");
 */
export async function tour({ call }: Speaker, queue_name: string): Promise<string[]> {
  const called = new Set<string>();
  const ok = async (name: string, args: Record<string, unknown> = {}): Promise<Answer["data"]> => {
    called.add(name);
    const { data, text, isError } = await eventually(async () => {
      const answer = await call(name, args);
      // A server that a busy machine lets wait for a second: then the answer says what to do.
      if (answer.isError && answer.text.includes("call again with the same arguments")) throw new Error(answer.text);
      return answer;
    });
    expect(isError, `${name}: ${text}`).toBe(false);
    // The same in both forms.
    expect(JSON.parse(text)).toEqual(data);
    expect(data.notice).toContain("data");
    return data;
  };
  const key = (of: string) => `${queue_name} ${of}`;

  const first = { queue_name, type: "tour", payload: { n: 1 }, priority: 5, idempotency_key: key("first") };
  const made = await ok("enqueue_job", first);
  expect(made).toMatchObject({ status: "queued", created: true });
  const { job_id } = made;
  expect(await ok("enqueue_job", first)).toMatchObject({ job_id, created: false });

  const jobs = [1, 2].map((n) => ({ queue_name, type: "tour", payload: { n }, max_retries: 0 }));
  const batch = { jobs, idempotency_key: key("batch") };
  expect(await ok("enqueue_job_batch", batch)).toMatchObject({ count: 2, created: 2 });
  expect(await ok("enqueue_job_batch", batch)).toMatchObject({ count: 2, created: 0 });

  expect(await ok("get_job_status", { job_id })).toMatchObject({ job_id, status: "queued" });
  const details = await ok("get_job_details", { job_id });
  expect(details).toMatchObject({ job: { job_id, queue_name, priority: 5, max_retries: 3, payload: '{"n":1}' } });
  expect(await ok("list_jobs", { queue_name, limit: 2 })).toMatchObject({
    jobs: [{ type: "tour" }, { type: "tour" }],
    next_cursor: expect.any(String) as string,
  });
  expect(await ok("explain_job", { job_id })).toMatchObject({ status: "queued" });

  const pause = { queue_name, idempotency_key: key("pause") };
  expect(await ok("pause_queue", pause)).toMatchObject({ paused: true, changed: true });
  expect(await ok("pause_queue", pause)).toMatchObject({ paused: true, changed: false });
  expect(await ok("explain_job", { job_id })).toMatchObject({
    reasons: expect.arrayContaining([expect.objectContaining({ code: "queue_paused" })]) as unknown,
  });
  expect(await ok("resume_queue", { queue_name, idempotency_key: key("resume") })).toMatchObject({ paused: false });
  // Sent again by mistake: the queue stays as it is.
  expect(await ok("pause_queue", pause)).toMatchObject({ paused: false, changed: false });
  expect(await ok("list_queues")).toMatchObject({
    queues: expect.arrayContaining([expect.objectContaining({ queue_name, paused: false })]) as unknown,
  });
  expect(await ok("get_queue_stats", { queue_name })).toMatchObject({ queues: [{ queue_name, pending: 3, total: 3 }] });

  const leased = await ok("lease_job", { queue_name, wait_seconds: 10 });
  expect(leased).toMatchObject({ job: { job_id, status: "running", worker_id: "mcp" } });
  const { lease_token } = leased;
  await ok("heartbeat", { job_id, lease_token, progress: { percent: 50 } });
  const done = { job_id, lease_token, result: { fine: true } };
  expect(await ok("ack_job", done)).toMatchObject({ status: "succeeded" });
  expect(await ok("ack_job", done)).toMatchObject({ status: "succeeded" });

  const back = await ok("lease_job", { queue_name, wait_seconds: 10 });
  const given = { job_id: (back.job as { job_id: string }).job_id, lease_token: back.lease_token };
  expect(await ok("release_job", given)).toMatchObject({ status: "queued" });
  const held = await ok("lease_job", { queue_name, wait_seconds: 10 });
  const dead = (held.job as { job_id: string }).job_id;
  const failed = { job_id: dead, lease_token: held.lease_token, error: "TypeError: no such customer" };
  expect(await ok("nack_job", failed)).toMatchObject({ status: "dead" });
  expect(await ok("get_job_attempts", { job_id: dead })).toMatchObject({
    attempts: [{ attempt: 1, outcome: "failed", error: "TypeError: no such customer" }],
  });
  const listed = await ok("list_dead", { type: "tour" });
  const [group] = listed.groups as { fingerprint: string; count: number }[];

  const which = { queue_name, fingerprint: group?.fingerprint };
  const looked = await ok("replay_dead", which);
  expect(looked).toMatchObject({ dry_run: true, matched: 1, changed: 0 });
  expect(await ok("get_job_status", { job_id: dead })).toMatchObject({ status: "dead" });
  const { died_before } = looked;
  const replay = { ...which, dry_run: false, died_before, idempotency_key: key("replay") };
  expect(await ok("replay_dead", replay)).toMatchObject({ matched: 1, changed: 1, repeated: false });
  expect(await ok("replay_dead", replay)).toMatchObject({ matched: 1, changed: 1, repeated: true });

  const cancel = { job_id: dead, idempotency_key: key("cancel") };
  expect(await ok("cancel_job", cancel)).toMatchObject({ status: "cancelled", changed: true });
  const retry = { job_id: dead, idempotency_key: key("retry") };
  expect(await ok("retry_job", retry)).toMatchObject({ status: "queued", changed: true });
  // The first call's answer was lost, and the host repeats it: the job goes on.
  expect(await ok("cancel_job", cancel)).toMatchObject({ status: "queued", changed: false });
  expect(await ok("retry_job", retry)).toMatchObject({ changed: false });

  expect(await ok("get_throughput", { window: "15m", queue_name })).toMatchObject({ window: "15m" });
  expect(await ok("list_workers")).toMatchObject({ workers: [] });
  expect(await ok("list_schedules")).toMatchObject({ schedules: expect.any(Array) as unknown });

  const of = { queue_name: `${queue_name}-flow`, type: "tour" };
  const flow = {
    jobs: [
      { ...of, ref: "load" },
      { ...of, ref: "mail", depends_on: ["load"] },
    ],
    idempotency_key: key("flow"),
  };
  const begun = await ok("enqueue_flow", flow);
  expect(begun).toMatchObject({ created: true, job_ids: [expect.any(String), expect.any(String)] });
  expect(await ok("enqueue_flow", flow)).toMatchObject({ flow_id: begun.flow_id, created: false });
  const { flow_id } = begun;
  const [load, mail] = begun.job_ids as string[];
  expect(await ok("get_flow", { flow_id })).toMatchObject({
    flow: { flow_id, state: "running", jobs: 2, counts: { queued: 1, blocked: 1 } },
    members: [
      { job_id: load, ref: "load", status: "queued", depends_on: [] },
      { job_id: mail, ref: "mail", status: "blocked", depends_on: [load] },
    ],
    critical_path: [load, mail],
    next_cursor: null,
  });
  expect(await ok("list_flows", { state: "running" })).toMatchObject({
    flows: expect.arrayContaining([expect.objectContaining({ flow_id })]) as unknown,
  });
  const stop = { flow_id, idempotency_key: key("stop") };
  // The second may have been cancelled because of the first before it was its turn.
  const one_or_two = expect.toBeOneOf([1, 2]) as unknown;
  expect(await ok("cancel_flow", stop)).toMatchObject({ state: "cancelled", changed: one_or_two });
  const again = { flow_id, idempotency_key: key("again") };
  expect(await ok("retry_flow", again)).toMatchObject({ state: "running", changed: one_or_two });
  // The first call's answer was lost, and the host repeats it: the flow goes on.
  expect(await ok("cancel_flow", stop)).toMatchObject({ state: "running", changed: 0 });
  return [...called];
}
