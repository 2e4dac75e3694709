import { forFile } from "@atlasqueue/harness";
import {
  jobStatuses,
  jobWithParents,
  leaseAnswer,
  parentPage,
  submittedBatch,
  type Json,
  type SubmitBatchInput,
} from "@atlasqueue/contract";
import { beforeAll, expect, test } from "vitest";
import { guardedApp, makeToken } from "../../test/guarded-app.ts";

const api = forFile(guardedApp);
let token: string;
beforeAll(async () => void (token = (await makeToken(api.deps, ["admin"])).token));

let keys = 0;
async function submit(body: SubmitBatchInput) {
  const key = { "idempotency-key": `parents ${(keys += 1)}` };
  const answer = await api.send("POST", "/v1/jobs/batch", token, body, key);
  const { jobs, then } = submittedBatch.parse(await answer.json());
  return { ids: jobs.map(({ id }) => id), last: then?.id ?? "" };
}
const read = async (path: string) => (await api.send("GET", path, token)).json();
const get = async (id: string, query = "") => jobWithParents.parse(await read(`/v1/jobs/${id}${query}`));
const page = async (id: string, query: string) => parentPage.parse(await read(`/v1/jobs/${id}/parents?${query}`));

async function lease(queue: string, max_jobs = 1) {
  const wish = { worker_id: "w", wait_seconds: 10, max_jobs };
  return leaseAnswer.parse(await (await api.send("POST", `/v1/queues/${queue}/lease`, token, wish)).json()).jobs;
}
async function settle(queue: string, how: "ack" | "nack", more: { [name: string]: Json }) {
  const [held] = await lease(queue);
  const { job, lease_token } = held ?? { job: { id: "none" }, lease_token: "" };
  expect((await api.send("POST", `/v1/jobs/${job.id}/${how}`, token, { lease_token, ...more })).status).toBe(200);
}
const counts = (some: object) => ({ ...Object.fromEntries(jobStatuses.map((status) => [status, 0])), ...some });
const named = Array.from({ length: 120 }, (_, at) => `p${at}`);

test("a job that waited for others comes with their results, when it is read and when it is leased", async () => {
  const { ids, last } = await submit({
    jobs: [
      { ref: "good", type: "a", queue: "given" },
      { ref: "bad", type: "a", queue: "given" },
    ],
    then: { type: "b", queue: "given" },
  });
  expect(await get(last)).toMatchObject({ status: "blocked", parent_counts: counts({ queued: 2 }) });
  await settle("given", "ack", { result: { rows: 17 } });
  await settle("given", "nack", { error: "no such customer", retry: false, error_data: { code: 4 } });
  const [held] = await lease("given");
  const expected = {
    parents: {
      good: { id: ids[0], status: "succeeded", result: { rows: 17 } },
      bad: { id: ids[1], status: "dead", result: { error_data: { code: 4 } } },
    },
    parent_counts: counts({ succeeded: 1, dead: 1 }),
    parents_complete: true,
  };
  expect(held).toMatchObject({ job: { id: last }, ...expected });
  const waited = get(last, "?wait_seconds=20");
  await api.send("POST", `/v1/jobs/${last}/ack`, token, { lease_token: held?.lease_token });
  expect(await waited).toMatchObject({ status: "succeeded", ...expected });
  expect(await page(last, "limit=1")).toMatchObject({ items: [{ ref: "good", ...expected.parents.good }] });
});

test("a job without parents says nothing of any", async () => {
  const { ids } = await submit({ jobs: [{ ref: "a", type: "a", queue: "none" }], then: { type: "b", queue: "none" } });
  const [held] = await lease("none");
  for (const shown of [held ?? {}, await get(ids[0] ?? "")])
    expect(Object.keys(shown).filter((name) => name.startsWith("parent"))).toEqual([]);
  expect(await page(ids[0] ?? "", "")).toEqual({ items: [], next_cursor: null });
});

test("parents past the first hundred are listed in pages, whose cursors are good for that job alone", async () => {
  const jobs = named.map((ref) => ({ ref, type: "a", queue: "many" }));
  const { last } = await submit({ jobs, then: { type: "b", queue: "many" } });
  const shown = await get(last);
  expect(Object.keys(shown.parents ?? {})).toEqual(named.slice(0, 100));
  expect(shown).toMatchObject({ parents_complete: false, parent_counts: counts({ queued: 120 }) });
  const first = await page(last, "limit=100");
  const rest = await page(last, `limit=100&cursor=${first.next_cursor}`);
  expect([...first.items, ...rest.items].map(({ ref }) => ref)).toEqual(named);
  expect(rest.next_cursor).toBeNull();
  const other = await submit({ jobs: [{ type: "a", queue: "many" }], then: { type: "b", queue: "many" } });
  const path = `/v1/jobs/${other.last}/parents`;
  expect((await api.send("GET", `${path}?cursor=${first.next_cursor}`, token)).status).toBe(400);
  expect((await api.send("GET", `${path}?limit=1001`, token)).status).toBe(422);
});
