import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { submit } from "@atlasqueue/core/internal";
import { eventually, submission } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  // The line in question is that for connections.
  api = await testApp({ signal: memorySignal() });
});
afterAll(() => api.stop());

const lists = 6;
const many_lists = 20;

test("jobs that are leased wait no longer than for their turn, though there is more to be read for the answer", async () => {
  const { database } = api.deps;
  const [outcome] = await submit(api.deps, [submission({ queue: "q" })], { idempotency_ttl_seconds: 60 });
  const id = outcome && "job" in outcome ? outcome.job.id : "";
  await database.sql`UPDATE atlasqueue.jobs SET has_steps = true WHERE id = ${id}`;
  await database.sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt) VALUES ('default', ${id}, 'step', 'a', '1', now(), 1)`;

  let taken = 0;
  while (database.turns.enter({ tenant: "default", ahead: "lease" })) taken += 1;
  const order: string[] = [];
  const note = (name: string) => (answer: Response) => {
    order.push(name);
    return answer;
  };
  const waiting = (count: number) => eventually(() => expect(database.turns.waiting()).toBe(count));
  const leased = api.send("POST", "/v1/queues/q/lease", undefined, { worker_id: "w" }).then(note("lease"));
  await waiting(1);
  const listed = Array.from({ length: lists }, (_, at) => api.get("/v1/jobs").then(note(`list ${at}`)));
  await waiting(1 + lists);
  // One after the other.
  database.turns.leave({ tenant: "default" });
  const { jobs } = leaseAnswer.parse(await (await leased).json());
  await Promise.all(listed);
  for (taken -= 1; taken > 0; taken -= 1) database.turns.leave({ tenant: "default" });
  expect(jobs).toMatchObject([{ job: { id }, steps: { a: 1 } }]);
  expect(order.indexOf("lease")).toBeLessThan(order.indexOf(`list ${lists - 1}`) - 2);
});

const [id, lease_token] = [":id", ":token"];
test.each<[what: string, path: string, body: object]>([
  ["an ack", `/v1/jobs/${id}/ack`, { lease_token }],
  ["a nack", `/v1/jobs/${id}/nack`, { lease_token, error: "no" }],
  ["a release", `/v1/jobs/${id}/release`, { lease_token }],
  ["a settlement", "/v1/leases/settle", { acks: [{ id, lease_token }] }],
  ["the release of a lease", "/v1/leases/release", { lease_token }],
  ["an ack of OpenQueue's", `/jobs/${id}/ack`, { lease_token }],
])("%s waits behind nothing else of its tenant's: a lease hangs on it", async (what, path, body) => {
  const { database } = api.deps;
  const queue = what.replaceAll(/[^a-z]/g, "-");
  await submit(api.deps, [submission({ queue })], { idempotency_ttl_seconds: 60 });
  const leased = await api.send("POST", `/v1/queues/${queue}/lease`, undefined, { worker_id: "w" });
  const [held] = leaseAnswer.parse(await leased.json()).jobs;
  const own = (text: string) =>
    text.replaceAll(id, held?.job.id ?? "").replaceAll(lease_token, held?.lease_token ?? "");

  let taken = 0;
  while (database.turns.enter({ tenant: "default", ahead: "lease" })) taken += 1;
  const order: string[] = [];
  const note = (name: string) => (answer: Response) => {
    order.push(name);
    return answer;
  };
  const listed = Array.from({ length: many_lists }, () => api.get("/v1/jobs").then(note("list")));
  await eventually(() => expect(database.turns.waiting()).toBe(many_lists));
  const settling = api.send("POST", own(path), undefined, JSON.parse(own(JSON.stringify(body))) as object);
  const settled = settling.then(note(what));
  await eventually(() => expect(database.turns.waiting()).toBe(many_lists + 1));
  // One after the other.
  database.turns.leave({ tenant: "default" });
  expect((await settled).status).toBe(200);
  await Promise.all(listed);
  for (taken -= 1; taken > 0; taken -= 1) database.turns.leave({ tenant: "default" });
  // Each of its statements may find one of the lists under way.
  expect(order.indexOf(what)).toBeLessThan(many_lists - 1);
});

test.each([`/v1/jobs/${id}/heartbeat`, `/jobs/${id}/heartbeat`])(
  "POST %s whose caller has hung up leaves the line: it would renew in vain, and keep those from it who still wait",
  async (path) => {
    const { database } = api.deps;
    await submit(api.deps, [submission({ queue: "unheard" })], { idempotency_ttl_seconds: 60 });
    const leased = await api.send("POST", "/v1/queues/unheard/lease", undefined, { worker_id: "w" });
    const [held] = leaseAnswer.parse(await leased.json()).jobs;
    const address = `http://localhost${path.replaceAll(id, held?.job.id ?? "")}`;
    const body = JSON.stringify({ lease_token: held?.lease_token });
    const asked = { method: "POST", body, headers: { "content-type": "application/json" } };

    let taken = 0;
    while (database.turns.enter({ tenant: "default", ahead: "lease" })) taken += 1;
    const caller = new AbortController();
    const answer = api.app.request(address, asked, { given_up: caller.signal });
    await eventually(() => expect(database.turns.waiting()).toBe(1));
    caller.abort();
    await eventually(() => expect(database.turns.waiting()).toBe(0));
    for (; taken > 0; taken -= 1) database.turns.leave({ tenant: "default" });
    expect((await answer).status).toBe(499);
    // Still held, and to be renewed.
    expect((await api.app.request(address, asked)).status).toBe(200);
  },
);
