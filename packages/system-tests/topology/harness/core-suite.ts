import type { Job, Attempt } from "@atlasqueue/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { inParallel } from "../../system/system.ts";
import { ask, insist } from "./ask.ts";
import { limit, suffer, type Measures, type Outage } from "./outage.ts";
import { mostAtOnce, orderOf } from "./runs.ts";
import { queues, type Topology } from "./topology.ts";

declare module "vitest" {
  interface TaskMeta {
    /** What the reporter prints at the end. */
    measures?: Measures;
  }
}

/** What a topology is, what may go wrong in it, and what only it has to show. */
export type Suite<T extends Topology> = {
  start(): Promise<T>;
  /** Do the acts for each of them; outages are the default tenant's. */
  tenants?: readonly string[];
  outages?: readonly Outage<T>[];
  /** Declares tests of its own; they run before the programs are told to end. */
  tests?(topology: () => T): void;
};

const minutes = 60_000;

const promiseOf = ({ reruns, gives_up }: { reruns?: string; gives_up?: string }) =>
  gives_up ?? `nothing accepted is lost or out of order${reruns ? `; ${reruns}` : ", or run twice at once"}`;

/**
 * Declares the tests that the whole system must pass wherever it runs, over HTTP as its clients see it: keys, groups, a
 * limit, retries, dead letters, delays, flows, uniqueness, steps, events, outages, a schedule, and a drain.
 *
 * @example
 * coreSuite({ start: async () => startProcesses(await startSystem(), { apis: 2 }) });
 */
export function coreSuite<T extends Topology>({ start, tenants, outages = [], tests }: Suite<T>): void {
  let topology: T;
  let turn = 0;
  const url = () => topology.apis[(turn += 1) % topology.apis.length]?.url ?? "";
  const startsOf = (ids: ReadonlySet<string>) =>
    topology.runs().filter(({ what, job_id }) => what === "start" && ids.has(job_id));
  /** What a tenant does. */
  const actsOf = (tenant = "") => {
    const tokenOf = () => topology.tokens?.[tenant];
    const call = <Body = unknown>(method: string, path: string, body?: object, key?: string) =>
      insist<Body>(url(), method, path, { ...(body && { body }), ...(key && { key }), token: tokenOf() });
    const submit = async (fields: object, key?: string) =>
      (await call<Job>("POST", "/v1/jobs", { type: "topology.step", ...fields }, key)).id;
    const read = (id: string) => call<Job>("GET", `/v1/jobs/${id}`);
    const reaches = (id: string, fields: Partial<Job>) =>
      eventually(async () => expect(await read(id)).toMatchObject(fields));
    const succeed = async (ids: readonly string[]) => {
      for (const id of ids) await reaches(id, { status: "succeeded" });
    };
    return { tokenOf, call, submit, read, reaches, succeed };
  };
  const all = (tenants ?? [undefined]).map(actsOf);

  beforeAll(async () => {
    topology = await start();
    for (const { call } of all) {
      await call("PUT", `/v1/queues/${queues.limited}/limits`, { concurrency: limit });
      const ticks = { cron: "* * * * *", job: { type: "topology.step", queue: queues.ticks } };
      await call("PUT", "/v1/schedules/topology", ticks);
    }
  }, 4 * minutes);
  afterAll(() => topology?.stop());

  const declare = ({ tokenOf, call, submit, read, reaches, succeed }: ReturnType<typeof actsOf>) => {
    test("a hundred jobs run once each, and the same key again is the same job", async () => {
      const keys = Array.from({ length: 100 }, (_, at) => `once-${at}`);
      const send = () => inParallel(keys.length, 20, (at) => submit({ payload: { pause_ms: 1 } }, keys[at]));
      const [ids, again] = [await send(), await send()];
      expect(again).toEqual(ids);
      await succeed(ids);
      expect(startsOf(new Set(ids))).toHaveLength(100);
      const other = await ask(url(), "POST", "/v1/jobs", { type: "noop" }, keys[0], tokenOf());
      expect(other.status).toBe(422);
    });

    test("the jobs of a group run one at a time in their order, also when one has to be tried again", async () => {
      const groups = await inParallel(10, 10, async (at) => {
        const ids: string[] = [];
        for (const failures of [0, 1, 0, 0])
          ids.push(await submit({ group: `order-${at}`, payload: { pause_ms: 5, failures } }));
        return ids;
      });
      await succeed(groups.flat());
      for (const ids of groups) {
        expect(orderOf(topology.runs(), new Set(ids))).toEqual(ids);
        expect(mostAtOnce(topology.runs(), new Set(ids))).toBe(1);
      }
    });

    test("of a limited queue never more run at once than may", async () => {
      const ids = await inParallel(40, 20, () => submit({ queue: queues.limited, payload: { pause_ms: 30 } }));
      await succeed(ids);
      expect(mostAtOnce(topology.runs(), new Set(ids))).toBe(limit);
    });

    test("a job that fails is tried again after its pause", async () => {
      const id = await submit({ payload: { failures: 2 }, backoff: { kind: "fixed", base_seconds: 0.3 } });
      await reaches(id, { status: "succeeded", attempts: 3 });
      const { items } = await call<{ items: Attempt[] }>("GET", `/v1/jobs/${id}/attempts`);
      const tries = items.toSorted((one, other) => one.attempt - other.attempt);
      expect(tries.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "succeeded"]);
      tries.slice(1).forEach(({ started_at }, at) => {
        expect(Date.parse(started_at ?? "") - Date.parse(tries[at]?.finished_at ?? "")).toBeGreaterThanOrEqual(299);
      });
    });

    test("a job that has failed for good is a dead letter, and runs again when it is replayed", async () => {
      const id = await submit({ payload: { failures: 1 }, max_attempts: 1 });
      await reaches(id, { status: "dead", attempts: 1 });
      const { items } = await call<{ items: { id: string }[] }>("GET", "/v1/dlq");
      expect(items.map((item) => item.id)).toContain(id);
      expect(await call("POST", "/v1/dlq/replay", { ids: [id] })).toMatchObject({ changed: 1 });
      await eventually(() => expect(startsOf(new Set([id]))).toHaveLength(2));
    });

    test("a delayed job starts when it is due", async () => {
      const id = await submit({ delay_seconds: 1 });
      await reaches(id, { status: "succeeded" });
      const { created_at, started_at } = await read(id);
      expect(Date.parse(started_at ?? "") - Date.parse(created_at)).toBeGreaterThanOrEqual(999);
    });

    test("a flow's last job runs after the others", async () => {
      const first = await submit({ payload: { pause_ms: 50 } });
      const ids = [first, await submit({ depends_on: [first] })];
      await succeed(ids);
      expect(orderOf(topology.runs(), new Set(ids))).toEqual(ids);
    });

    test("a unique job is there once, until it is cancelled", async () => {
      const later = { delay_seconds: 600, unique: { key: "one" } };
      const id = await submit(later);
      expect(await submit(later)).toBe(id);
      expect(await call("POST", `/v1/jobs/${id}/cancel`)).toMatchObject({ status: "cancelled" });
      expect(await submit(later)).not.toBe(id);
    });

    test("a step is done once, however often its job is tried", async () => {
      const id = await submit({ type: "topology.steps", backoff: { kind: "fixed", base_seconds: 0.1 } });
      await reaches(id, { status: "succeeded", attempts: 2, result: { done_in: 1 } });
    });

    test("a job that finishes is an event", async () => {
      const headers = { authorization: `Bearer ${tokenOf()}` };
      const events = await fetch(`${url()}/v1/events`, tokenOf() === undefined ? {} : { headers });
      const ids = [await submit({})];
      // An API's first stream subscribes in Redis, and misses the jobs that finish before. Then it misses none.
      const again = setInterval(() => void submit({}).then((id) => ids.push(id)), 1_000);
      let [text, last] = ["", ""];
      try {
        for await (const chunk of events.body ?? []) {
          text += Buffer.from(chunk).toString();
          const finished = text.split("event: finished").slice(1).join("");
          if (last !== "" && finished.includes(last)) break;
          if (last !== "" || !ids.some((id) => finished.includes(id))) continue;
          clearInterval(again);
          last = await submit({});
        }
      } finally {
        clearInterval(again);
      }
      expect(text).toContain(last);
    });
  };
  all.forEach((acts, at) => (tenants ? describe(`tenant ${tenants[at]}`, () => declare(acts)) : declare(acts)));

  for (const outage of outages)
    test(
      `${outage.name}: ${promiseOf(outage)}`,
      async ({ task }) => {
        task.meta.measures = await suffer(topology, outage);
      },
      6 * minutes,
    );

  tests?.(() => topology);

  test("a schedule fires each minute", async () => {
    for (const { call } of all)
      await eventually(
        async () => {
          const { items } = await call<{ items: Job[] }>("GET", `/v1/jobs?queue=${queues.ticks}`);
          expect(items.at(-1)).toMatchObject({ type: "topology.step", status: "succeeded" });
        },
        { timeout_ms: 2 * minutes },
      );
  });

  test("SIGTERM ends each program with 0, and a job under way is finished first", async () => {
    const ids = new Set(await Promise.all(all.map(({ submit }) => submit({ payload: { pause_ms: 2_000 } }))));
    // Leased is not enough: a job whose handler has not begun goes back when its worker is told to end.
    await eventually(() => expect(startsOf(ids)).toHaveLength(all.length));
    for (const program of topology.programs) program.kill("SIGTERM");
    for (const program of topology.programs) expect(await program.waitForExit()).toEqual({ code: 0, signal: null });
    const ended = topology.runs().filter(({ what, job_id }) => what === "end" && ids.has(job_id));
    expect(ended).toHaveLength(all.length);
  });
}
