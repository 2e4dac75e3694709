import type { checkedRequests } from "./checked-request.ts";

type Called = ReturnType<typeof checkedRequests>["call"];
type Submit = (key: string, body?: object) => Promise<string>;

/** A queue that stands still and goes on; an act whose first asking is still under way. */
export async function tourPauses(
  call: Called,
  submit: Submit,
  unfinish: (key: string) => Promise<unknown>,
): Promise<void> {
  await submit("pause", { queue: "pause" });
  await call("pauseQueue", 200, { params: { queue: "pause" } });
  await call("leaseJobs", 200, { params: { queue: "pause" }, body: { worker_id: "tourist" } });
  await call("listQueues", 200);
  await call("listQueues", 422, { query: { limit: "0" } });
  await call("resumeQueue", 200, { params: { queue: "pause" }, body: {} });
  const under_way = "under way";
  const key = { "Idempotency-Key": under_way };
  await call("pauseQueue", 200, { params: { queue: "pause" }, headers: key });
  await unfinish(under_way);
  await call("pauseQueue", 409, { params: { queue: "pause" }, headers: key });
  for (const operation of ["pauseQueue", "resumeQueue"]) {
    await call(operation, 200, { params: { queue: "never-heard-of" } });
    await call(operation, 422, { params: { queue: "a b" } });
    await call(operation, 422, { params: { queue: "pause" }, body: { force: true } });
  }
}

/** Schedules, from the first to the last of what can be done to one. */
export async function tourSchedules(call: Called): Promise<void> {
  const params = { name: "nightly" };
  const body = { cron: "30 2 * * *", timezone: "Europe/Berlin", job: { type: "tour", payload: { a: [1] } } };
  await call("createSchedule", 201, { body: { name: "nightly", ...body } });
  await call("createSchedule", 409, { body: { name: "nightly", ...body } });
  await call("createSchedule", 422, { body: { name: "never", ...body, cron: "0 0 30 2 *" } });
  await call("createSchedule", 413, {
    body: { name: "large", ...body, job: { type: "a", payload: { x: "x".repeat(300_000) } } },
  });
  await call("putSchedule", 200, { params, body });
  await call("putSchedule", 201, { params: { name: "other" }, body: { ...body, catch_up: "all" } });
  await call("putSchedule", 422, { params, body: { ...body, name: "other" } });
  await call("listSchedules", 200, { query: { limit: "1" } });
  await call("listSchedules", 400, { query: { cursor: "nightly" } });
  await call("listSchedules", 422, { query: { limit: "0" } });
  await call("getSchedule", 200, { params });
  await call("pauseSchedule", 200, { params });
  await call("resumeSchedule", 200, { params, body: {} });
  await call("deleteSchedule", 204, { params });
  for (const operation of ["getSchedule", "pauseSchedule", "resumeSchedule", "deleteSchedule"]) {
    await call(operation, 404, { params });
    await call(operation, 422, { params: { name: "a b" } });
  }
}

/** A queue's limits, and turns instead of them. */
export async function tourLimits(call: Called): Promise<void> {
  const params = { queue: "limited" };
  const rate = { limit: 100, period_seconds: 60 };
  await call("limitQueue", 200, { params, body: { concurrency: 7, group_concurrency: 2, rate, group_rate: rate } });
  await call("listQueues", 200);
  await call("limitQueue", 200, { params, body: {} });
  await call("limitQueue", 200, { params, body: { fair_by: "group", group_concurrency: 20 } });
  await call("getQueue", 200, { params });
  await call("limitQueue", 200, { params, body: {} });
  await call("limitQueue", 422, { params, body: { concurrency: 0 } });
  await call("limitQueue", 422, { params, body: { fair_by: "tenant" } });
  await call("limitQueue", 422, { params, body: { fair_by: "group", concurrency: 7 } });
  await call("limitQueue", 422, { params, body: { rate: { limit: 1 } } });
}
