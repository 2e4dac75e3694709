import { problem, settleAnswer, type LeaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp } from "../../test/test-app.ts";

const signal = memorySignal();
const api = forFile(() => testApp({ signal, backoff: { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 } }));

const { post, submit, lease, leaseOne } = leaseCalls(() => api);
const typeOf = async (response: Response) => problem.parse(await response.json()).type;

test("jobs are given back beside acks and nacks, each with its own outcome", async () => {
  for (let at = 0; at < 3; at += 1) await submit("gives-many");
  const held = await lease("gives-many", { max_jobs: 3 });
  const [acked, first, second] = held.map(({ job: { id }, lease_token }) => ({ id, lease_token }));
  const stranger = "01920000-0000-7000-8000-000000000000";
  const ask = { acks: [acked], releases: [first, { ...second, lease_token: stranger }, { ...second, id: stranger }] };
  const response = await post("/leases/settle", ask);
  expect(settleAnswer.parse(await response.json())).toEqual({
    acks: [{ id: acked?.id, outcome: "succeeded" }],
    nacks: [],
    releases: [
      { id: first?.id, outcome: "queued" },
      { id: second?.id, outcome: "lease_lost" },
      { id: stranger, outcome: "not_found" },
    ],
  });
  expect(await lease("gives-many", { max_jobs: 3 })).toMatchObject([{ job: { id: first?.id, attempts: 1 } }]);
  const twice = await post("/leases/settle", { acks: [second], releases: [second] });
  expect([twice.status, problem.parse(await twice.json()).errors?.[0]?.pointer]).toEqual([422, "/releases/0/id"]);
});

test("many are settled in one call, each with its own outcome", async () => {
  for (let at = 0; at < 4; at += 1) await submit("settles", { max_attempts: 1 + (at % 2) });
  const held = await lease("settles", { max_jobs: 4 });
  const of = (at: number) => ({ id: held[at]?.job.id ?? "", lease_token: held[at]?.lease_token ?? "" });
  const stranger = "01920000-0000-7000-8000-000000000000";
  const response = await post("/leases/settle", {
    acks: [
      { ...of(0), result: 1 },
      { ...of(1), lease_token: stranger },
      { ...of(0), id: stranger },
    ],
    nacks: [
      { ...of(2), error: "x" },
      { ...of(3), error: "x" },
    ],
  });
  expect(response.status).toBe(200);
  expect(settleAnswer.parse(await response.json())).toEqual({
    acks: [
      { id: of(0).id, outcome: "succeeded" },
      { id: of(1).id, outcome: "lease_lost" },
      { id: stranger, outcome: "not_found" },
    ],
    nacks: [
      { id: of(2).id, outcome: "dead" },
      { id: of(3).id, outcome: "failed" },
    ],
  });
  const twice = await post("/leases/settle", { acks: [of(0), of(0)] });
  expect([twice.status, await typeOf(twice)]).toEqual([422, "/problems/validation"]);
  expect((await post("/leases/settle", {})).status).toBe(200);
});

test("an ack with `next` is answered with the next job of the group, ready to be worked on", async () => {
  for (const n of [1, 2]) await submit("goes-on", { group: "g", payload: { n } });
  const first = await leaseOne("goes-on");
  const settle = async ({ job: { id }, lease_token }: LeaseAnswer["jobs"][number], more: object) =>
    settleAnswer.parse(await (await post("/leases/settle", { acks: [{ id, lease_token }], ...more })).json());
  const next = { worker_id: "goes-on", lease_seconds: 60 };
  const { next: [second] = [] } = await settle(first, { next });
  expect(second).toMatchObject({ job: { payload: { n: 2 }, status: "running", worker_id: "goes-on", attempts: 1 } });
  if (!second) return;
  const beat = await post(`/jobs/${second.job.id}/heartbeat`, { lease_token: second.lease_token });
  expect(beat.status).toBe(200);
  expect(await settle(second, { next })).toMatchObject({ acks: [{ outcome: "succeeded" }], next: [] });
  expect(await settle(second, {})).not.toHaveProperty("next");
});

test("ids are accepted in any case, and one given in two cases was named twice", async () => {
  const id = await submit("cases");
  const { lease_token } = await leaseOne("cases");
  const loud = { id: id.toUpperCase(), lease_token: lease_token.toUpperCase() };
  const twice = await post("/leases/settle", { acks: [{ id, lease_token }], nacks: [{ ...loud, error: "x" }] });
  expect(twice.status).toBe(422);
  const settled = await post("/leases/settle", { acks: [loud] });
  expect(settleAnswer.parse(await settled.json()).acks).toEqual([{ id, outcome: "succeeded" }]);
});
