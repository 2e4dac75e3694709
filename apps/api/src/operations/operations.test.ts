import { job, operation, operationPage, operationPreview, type Operation } from "@atlasqueue/contract";
import { createSweeper } from "@atlasqueue/core/internal";
import { createLogger } from "@atlasqueue/core";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
beforeEach(
  () =>
    api.deps.database
      .sql`TRUNCATE atlasqueue.jobs, atlasqueue.operations, atlasqueue.audit_log, atlasqueue.queue_counts, atlasqueue.queue_changes`,
);

let made = 0;
const submit = async (queue: string): Promise<string> => {
  const response = await api.post(`op-${(made += 1)}`, JSON.stringify({ type: "a", queue }));
  return job.parse(await response.json()).id;
};
const send = (body: object) => api.send("POST", "/v1/operations", undefined, body);
const start = async (body: object): Promise<Operation> => {
  const response = await send(body);
  expect(response.status, await response.clone().text()).toBe(201);
  return operation.parse(await response.json());
};
const look = async (id: string) => operation.parse(await (await api.get(`/v1/operations/${id}`)).json());
const statusOf = async (id: string) => job.parse(await (await api.get(`/v1/jobs/${id}`)).json()).status;

/** What another process' sweep does, until the operation is over. */
async function runOperation(id: string): Promise<Operation> {
  const stop = new AbortController();
  const deps = { ...api.deps, logger: createLogger("fatal", "test") };
  const loop = createSweeper(deps, stop.signal).run();
  await eventually(async () => expect((await look(id)).finished_at).not.toBeNull());
  stop.abort();
  await loop;
  return look(id);
}

test("jobs are counted, then changed in the background; what was made after the count stays", async () => {
  const counted = [await submit("mail"), await submit("mail")];
  const other = await submit("sms");
  const wish = { kind: "cancel", filter: { queue: "mail" } };
  const response = await send({ ...wish, dry_run: true });
  expect(response.status).toBe(200);
  const { cursor, ...preview } = operationPreview.parse(await response.json());
  expect(preview).toEqual({ total: 2, total_complete: true });
  const later = await submit("mail");
  const begun = await start({ ...wish, cursor });
  expect(begun).toMatchObject({ kind: "cancel", status: "running", filter: { queue: "mail" }, done: 0 });
  expect(await runOperation(begun.id)).toMatchObject({ status: "done", done: 2, failed: 0 });
  for (const id of counted) expect(await statusOf(id)).toBe("cancelled");
  expect([await statusOf(later), await statusOf(other)]).toEqual(["queued", "queued"]);
  const another = { kind: "retry", filter: { queue: "mail" }, cursor };
  expect((await send(another)).status).toBe(400);
  const { items } = (await (await api.get("/v1/audit")).json()) as { items: object[] };
  expect(items).toMatchObject([
    { action: "operation.create", target: begun.id, count: 2, detail: { kind: "cancel", queue: "mail" } },
  ]);
});

test("a stopped operation changes nothing more; one that is over cannot be stopped", async () => {
  const id = await submit("mail");
  const begun = await start({ kind: "delete", all: true });
  const cancel = (of: string) => api.send("POST", `/v1/operations/${of}/cancel`);
  expect((await cancel(begun.id)).status).toBe(200);
  expect(await look(begun.id)).toMatchObject({ status: "cancelled", done: 0, filter: {} });
  const purge = await start({ kind: "purge", filter: { queue: "mail" } });
  await runOperation(purge.id);
  expect((await api.get(`/v1/jobs/${id}`)).status).toBe(404);
  const refused = await cancel(purge.id);
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({ type: "/problems/operation-over", detail: "The operation is done" });
  expect((await cancel("00000000-0000-4000-8000-000000000000")).status).toBe(404);
});

test("operations and replays are listed together, and replays alone at their own route", async () => {
  const begun = await start({ kind: "cancel", all: true });
  const replayed = await api.send("POST", "/v1/dlq/replays", undefined, { filter: { type: "a" } });
  const { id } = (await replayed.json()) as { id: string };
  const first = operationPage.parse(await (await api.get("/v1/operations?limit=1")).json());
  expect(first.items).toMatchObject([{ id, kind: "replay", filter: { type: "a" } }]);
  const second = operationPage.parse(await (await api.get(`/v1/operations?cursor=${first.next_cursor}`)).json());
  expect(second.items.map((one) => one.id)).toEqual([begun.id]);
  const replays = (await (await api.get("/v1/dlq/replays")).json()) as { items: { id: string }[] };
  expect(replays.items.map((one) => one.id)).toEqual([id]);
  expect((await api.get(`/v1/dlq/replays/${begun.id}`)).status).toBe(404);
  expect((await api.send("POST", `/v1/dlq/replays/${begun.id}/pause`)).status).toBe(404);
});
