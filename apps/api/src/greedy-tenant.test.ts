// @module-tag slow
import { forFile } from "@atlasqueue/harness";
import { job, leaseAnswer } from "@atlasqueue/contract";
import { beforeAll, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../test/guarded-app.ts";

// Outside of submission, whose requests share statements: one tenant's many requests against one of another's.

const api = forFile(guardedApp);
let greedy: string;
let modest: string;
beforeAll(async () => {
  [greedy, modest] = (await Promise.all(
    [0, 1].map(async () => (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token),
  )) as [string, string];
});

let keys = 0;
const submit = async (token: string): Promise<string> => {
  const headers = { "idempotency-key": `greedy-${(keys += 1)}` };
  const answer = await api.send("POST", "/v1/jobs", token, { type: "a", queue: "q", payload: {} }, headers);
  return job.parse(await answer.json()).id;
};
const held = async (token: string) => {
  await submit(token);
  const answer = await api.send("POST", "/v1/queues/q/lease", token, { worker_id: "w" });
  const [lease] = leaseAnswer.parse(await answer.json()).jobs;
  if (!lease) throw new Error("nothing was leased");
  return { path: `/v1/jobs/${lease.job.id}`, lease_token: lease.lease_token };
};

/** What a neighbour does, prepared beforehand. */
const needs: Record<string, () => Promise<() => Promise<Response>>> = {
  "a job is read": async () => {
    const id = await submit(modest);
    return () => api.send("GET", `/v1/jobs/${id}`, modest);
  },
  "a lease is held for longer": async () => {
    const { path, lease_token } = await held(modest);
    return () => api.send("POST", `${path}/heartbeat`, modest, { lease_token });
  },
  "a job is acknowledged": async () => {
    const { path, lease_token } = await held(modest);
    return () => api.send("POST", `${path}/ack`, modest, { lease_token });
  },
  "a job is leased": async () => {
    await submit(modest);
    return () => api.send("POST", "/v1/queues/q/lease", modest, { worker_id: "w" });
  },
  "a job is submitted": async () => () =>
    api.send("POST", "/v1/jobs", modest, { type: "a" }, { "idempotency-key": `greedy-${(keys += 1)}` }),
  "a job is cancelled": async () => {
    const id = await submit(modest);
    return () => api.send("POST", `/v1/jobs/${id}/cancel`, modest);
  },
  "the jobs are listed": async () => () => api.send("GET", "/v1/jobs", modest),
  "the overview is asked for": async () => () => api.send("GET", "/v1/overview", modest),
};

const requests = 1_400;
/** Each lets through as many as there are connections, and as many again are answered by the time an answer is read. */
const few_turns = requests / 4;
/** Where tenants take no turns, every flood goes first; where they do, a disk that stands still can let one pass. */
const floods_max = 3;
const floods: Record<string, (at: number) => Promise<Response>> = {
  lists: () => api.send("GET", "/v1/jobs", greedy),
  "dead-letter lists": () => api.send("GET", "/v1/dlq", greedy),
  overviews: () => api.send("GET", "/v1/overview", greedy),
  "heartbeats of jobs that are not held": (at) =>
    api.send("POST", `/v1/jobs/${at.toString(16).padStart(8, "0")}-0000-7000-8000-000000000000/heartbeat`, greedy, {
      lease_token: crypto.randomUUID(),
    }),
  leases: () => api.send("POST", "/v1/queues/many/lease", greedy, { worker_id: "w" }),
  "acts under keys": (at) =>
    api.send("POST", `/v1/queues/q${at % 10}/pause`, greedy, {}, { "idempotency-key": `pause ${at}` }),
};

/** Something to lease for each request. */
const fill = async (): Promise<void> => {
  for (let left = requests; left > 0; left -= 700) {
    const jobs = Array.from({ length: 700 }, () => ({ type: "a", queue: "many" }));
    const headers = { "idempotency-key": `greedy-${(keys += 1)}` };
    expect((await api.send("POST", "/v1/jobs/batch", greedy, { jobs }, headers)).status).toBe(201);
  }
};

/** How many of a flood are answered while one of another tenant's waits for its answer. */
const passedBy = async (send: (at: number) => Promise<Response>, ask: () => Promise<Response>): Promise<number> => {
  let answered = 0;
  const sent = Array.from({ length: requests }, (_, at) => send(at).then(() => (answered += 1)));
  await Promise.race(sent);
  const before = answered;
  const answer = await ask();
  const passed = answered - before;
  expect(answer.status, await answer.text()).toBeLessThan(300);
  await Promise.all(sent);
  return passed;
};

// A flood that takes no turns fails whatever is asked beside it, and a need that takes none fails in any flood. So each
// of them is in one pair at least.
const pairs = Object.keys(needs).map((need, at) => {
  const names = Object.keys(floods);
  return [names[at % names.length] ?? "", need] as const;
});
test.each(pairs)(
  "beside a tenant's flood of %s, another's request is answered within a few turns: %s",
  async (flood, need) => {
    const [prepare, send] = [needs[need], floods[flood]];
    if (!prepare || !send) throw new Error("there is no such test");
    const passed: number[] = [];
    while (passed.length < floods_max && !passed.some((count) => count < few_turns)) {
      if (flood === "leases") await fill();
      passed.push(await passedBy(send, await prepare()));
    }
    expect(Math.min(...passed), passed.join(", ")).toBeLessThan(few_turns);
  },
  60_000,
);
