import { checkedRequests } from "./checked-request.ts";
import { guardedApp } from "./guarded-app.ts";

type Called = ReturnType<typeof checkedRequests>["call"];

/** Signing in and out, where nobody has to and where everybody has to. */
export async function tourSession(call: Called): Promise<void> {
  await call("getSession", 200);
  await call("openSession", 200, { body: { token: "anything" } });
  await call("openSession", 422, { body: {} });
  await call("closeSession", 200);
  const guarded = await guardedApp();
  try {
    const own = checkedRequests(guarded.app).call;
    const { token } = await guarded.token("read");
    await own("openSession", 401, { body: { token: "aq_wrong" } });
    const opened = await own("openSession", 200, { body: { token } });
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    await own("getSession", 200, { headers: { cookie } });
    await own("getSession", 401, { headers: { authorization: "Bearer aq_wrong" } });
    await own("closeSession", 403, { headers: { cookie } });
    await own("closeSession", 200, { headers: { cookie, "x-atlasqueue-dashboard": "1" } });
  } finally {
    await guarded.stop();
  }
}

/** What an operator does about dead letters, of which there is one. */
export async function tourDeadLetterGroups(call: Called): Promise<void> {
  await call("listDeadLetterGroups", 200);
  await call("listDeadLetterGroups", 422, { query: { limit: "0" } });
  await call("listDeadLetterGroups", 400, { query: { cursor: "tampered" } });
  await tourReplays(call);
}

async function tourReplays(call: Called): Promise<void> {
  const body = { filter: { queue: "dead" }, patch: { a: 1 }, rate: 5 };
  await call("createReplay", 200, { body: { ...body, dry_run: true } });
  await call("createReplay", 422, { body: { filter: {} } });
  const created = await call("createReplay", 201, { body });
  const { id } = (await created.json()) as { id: string };
  const params = { id };
  await call("listReplays", 200);
  await call("listReplays", 400, { query: { cursor: "tampered" } });
  await call("getReplay", 200, { params });
  for (const operation of ["pauseReplay", "resumeReplay", "cancelReplay"]) {
    await call(operation, 200, { params });
    await call(operation, 404, { params: { id: "00000000-0000-0000-0000-000000000000" } });
  }
  await call("pauseReplay", 409, { params });
  await call("getReplay", 404, { params: { id: "00000000-0000-0000-0000-000000000000" } });
  await tourOperations(call);
  for (let more = 0; more < 20; more += 1) await call("createReplay", 201, { body });
  await call("createOperation", 409, { body: { kind: "delete", all: true } });
  await call("createReplay", 409, { body });
}

async function tourOperations(call: Called): Promise<void> {
  const nobody = { id: "00000000-0000-0000-0000-000000000000" };
  const body = { kind: "delete", filter: { queue: "nothing" } };
  await call("createOperation", 200, { body: { ...body, dry_run: true } });
  await call("createOperation", 422, { body: { kind: "delete" } });
  const created = await call("createOperation", 201, { body });
  const params = { id: ((await created.json()) as { id: string }).id };
  await call("listOperations", 200);
  await call("listOperations", 400, { query: { cursor: "tampered" } });
  await call("getOperation", 200, { params });
  await call("getOperation", 404, { params: nobody });
  await call("cancelOperation", 200, { params });
  await call("cancelOperation", 404, { params: nobody });
}

/** The trail of what was done. */
export async function tourAudit(call: Called): Promise<void> {
  await call("listAudit", 200);
  await call("listAudit", 200, { query: { action: "queue.pause", limit: "1" } });
  await call("listAudit", 422, { query: { action: "?" } });
  await call("listAudit", 400, { query: { cursor: "tampered" } });
}

/** What an operator does to jobs, one and many. */
export async function tourActs(call: Called, submit: (key: string, body?: object) => Promise<string>): Promise<void> {
  const params = { id: await submit("acts", { queue: "acts", group: "one" }) };
  const nobody = { id: "00000000-0000-0000-0000-000000000000" };
  await call("listHeldGroups", 200, { params: { queue: "acts" } });
  await call("deleteJob", 409, { params });
  await call("editJob", 409, { params, body: { patch: {} } });
  await call("bulkJobs", 200, { body: { action: "cancel", filter: { queue: "acts" }, dry_run: true } });
  await call("bulkJobs", 200, { body: { action: "cancel", ids: [params.id] } });
  await call("bulkJobs", 422, { body: { action: "cancel" } });
  await call("bulkJobs", 200, { body: { action: "purge", filter: { search: "tour", key: "acts" }, dry_run: true } });
  await call("getQueue", 200, { params: { queue: "acts" } });
  await call("getQueueScaling", 200, { params: { queue: "acts" } });
  await call("getQueue", 404, { params: { queue: "nobodys" } });
  await call("editJob", 200, { params, body: { patch: { a: 1 } } });
  await call("editJob", 422, { params, body: {} });
  await call("editJob", 404, { params: nobody, body: { patch: {} } });
  await call("cancelJob", 200, { params });
  await call("deleteJob", 204, { params });
  await call("deleteJob", 404, { params });
  await call("listJobs", 200, { query: { search: "tour", queue: "acts" } });
  await call("createSchedule", 201, { body: { name: "acts", cron: "0 0 * * *", job: { type: "tour" } } });
  await call("runSchedule", 201, { params: { name: "acts" } });
  await call("runSchedule", 404, { params: { name: "nobodys" } });
}
