import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { eventually, forFile, submission, submit } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(() => testApp({ signal: memorySignal() }));

const lists = 20;
/** Takes every place of the ordinary line. The result gives some of them back, or all. */
const takeTurns = (): ((count?: number) => void) => {
  const { rest } = api.deps.database.turns;
  let taken = 0;
  while (rest.enter("default")) taken += 1;
  return (count = taken) => {
    taken -= count;
    for (let left = count; left > 0; left -= 1) rest.leave("default");
  };
};
const waiting = (count: number) => eventually(() => expect(api.deps.database.turns.rest.waiting()).toBe(count));

test("jobs that are leased wait once for their turn, though there is more to be read for the answer", async () => {
  const { database } = api.deps;
  const [outcome] = await submit(api.deps, [submission({ queue: "q" })], { idempotency_ttl_seconds: 60 });
  const id = outcome && "job" in outcome ? outcome.job.id : "";
  await database.sql`UPDATE atlasqueue.jobs SET has_steps = true WHERE id = ${id}`;
  await database.sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt) VALUES ('default', ${id}, 'step', 'a', '1', now(), 1)`;

  const leaveTurns = takeTurns();
  const leased = api.send("POST", "/v1/queues/q/lease", undefined, { worker_id: "w" });
  await waiting(1);
  const listed = Array.from({ length: lists }, () => api.get("/v1/jobs"));
  await waiting(1 + lists);
  leaveTurns(1);
  const held = database.turns.rest.waiting();
  const { jobs } = leaseAnswer.parse(await (await leased).json());
  expect(held).toBe(lists);
  expect(jobs).toMatchObject([{ job: { id }, steps: { a: 1 } }]);
  leaveTurns();
  await Promise.all(listed);
});

const [id, lease_token] = [":id", ":token"];
test.each<[what: string, path: string, body: object]>([
  ["an ack", `/v1/jobs/${id}/ack`, { lease_token }],
  ["a nack", `/v1/jobs/${id}/nack`, { lease_token, error: "no" }],
  ["a release", `/v1/jobs/${id}/release`, { lease_token }],
  ["a settlement", "/v1/leases/settle", { acks: [{ id, lease_token }] }],
  ["the release of a lease", "/v1/leases/release", { lease_token }],
  ["an ack of OpenQueue's", `/jobs/${id}/ack`, { lease_token }],
])("%s does not wait for other statements of its tenant", async (what, path, body) => {
  const queue = what.replaceAll(/[^a-z]/g, "-");
  await submit(api.deps, [submission({ queue })], { idempotency_ttl_seconds: 60 });
  const leased = await api.send("POST", `/v1/queues/${queue}/lease`, undefined, { worker_id: "w" });
  const [held] = leaseAnswer.parse(await leased.json()).jobs;
  const own = (text: string) =>
    text.replaceAll(id, held?.job.id ?? "").replaceAll(lease_token, held?.lease_token ?? "");

  const leaveTurns = takeTurns();
  const listed = Array.from({ length: lists }, () => api.get("/v1/jobs"));
  await waiting(lists);
  const settled = await api.send("POST", own(path), undefined, JSON.parse(own(JSON.stringify(body))) as object);
  expect(settled.status).toBe(200);
  expect(api.deps.database.turns.rest.waiting()).toBe(lists);
  leaveTurns();
  await Promise.all(listed);
});
