import { noSignal, type Signal } from "@atlasqueue/core";
import { findJob, SignalUnavailableError, submit } from "@atlasqueue/core/internal";
import { eventually, submission } from "@atlasqueue/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { drivers, workerHarness } from "../../test/harness.ts";
import { defineHandler } from "../handler.ts";
import { createFound } from "./found.ts";
import { idSource } from "./next-ids.ts";
import { createServed } from "./served.ts";

const { deps, signal, sql, useSignal, work } = workerHarness();
const noop = defineHandler("noop", z.looseObject({}), () => "done");
const named = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}`);

type Place = { tenant: string; queue: string };
const addTo = async (places: readonly Place[]): Promise<string[]> => {
  const submissions = places.map(({ tenant, queue }) => ({ ...submission({ queue, payload: { tenant } }), tenant }));
  const outcomes = await submit(deps(), submissions, { idempotency_ttl_seconds: 60 });
  return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
};
const allSucceed = (count: number) =>
  eventually(
    async () => expect(await sql()`SELECT FROM atlasqueue.jobs WHERE status = 'succeeded'`).toHaveLength(count),
    {
      timeout_ms: 20_000,
    },
  );

/** Counts the waits on a signal. */
function counting(open: () => Signal) {
  const waits = { begun: 0, woken: 0, lists_max: 0 };
  useSignal(() => {
    const opened = open();
    return {
      ...opened,
      async wait(queues, ...rest) {
        waits.begun += 1;
        waits.lists_max = Math.max(waits.lists_max, queues.length);
        const woken = await opened.wait(queues, ...rest);
        if (woken) waits.woken += 1;
        return woken;
      },
    };
  });
  return { waits, isIdle: () => eventually(() => expect(waits.begun).toBeGreaterThan(0)) };
}

describe.each(Object.entries(drivers))("with %s", (_name, open) => {
  test(
    "jobs of many tenants that come at once are found together, not by a wait for each",
    { tags: ["slow"] },
    async () => {
      const { waits, isIdle } = counting(open);
      const tenants = named("tenant", 400);
      work([noop], { tenants });
      await isIdle();
      let added = 0;
      // Not while it rests from a look that was slow.
      await eventually(async () => {
        waits.woken = 0;
        await addTo(tenants.slice(200, 230).map((tenant) => ({ tenant, queue: "default" })));
        await allSucceed((added += 30));
        expect(waits.woken).toBeLessThan(10);
      });
    },
  );

  test("a wait names two thousand lists at most, and jobs in the others run all the same", async () => {
    const { waits, isIdle } = counting(open);
    const tenants = named("tenant", 30);
    const queues = named("queue", 100);
    work([noop], { tenants, queues, pollTimeoutSeconds: 60 });
    await isIdle();
    await addTo(tenants.map((tenant, at) => ({ tenant, queue: `queue-${at * 3}` })));
    await allSucceed(30);
    expect(waits.lists_max).toBe(2_000);
  });
});

test("a tenant that joins while the others' lists are looked at is not waited without", async () => {
  const served = createServed(deps(), "*", ["default"]);
  const own = signal();
  const joining: Signal = {
    ...own,
    async take(...given) {
      await served.discover();
      return own.take(...given);
    },
  };
  const [id] = await addTo([{ tenant: "late", queue: "default" }]);
  const parts = { deps: { ...deps(), signal: joining }, served, poll_timeout_seconds: 60 };
  const found = createFound(deps(), served);
  const nextIds = idSource({ ...parts, found, sweeper: { nudge() {} } }, new AbortController().signal);
  expect((await nextIds(5)).ids).toEqual([]);
  expect(await nextIds(5)).toMatchObject({ tenant: "late", ids: [id] });
});

test("a look that does not end keeps nobody from the ids that come, and one that fails is reported", async () => {
  const served = createServed(deps(), ["a", "b"], ["default"]);
  const never = new Promise<void>(() => {});
  let due_ms = 0;
  const found = {
    ...createFound(deps(), served),
    look: () => ((due_ms = Infinity), never),
    looking: () => never,
    lookInMs: () => due_ms,
  };
  const parts = { deps: { ...deps(), signal: signal() }, served, found, poll_timeout_seconds: 60 };
  const nextIds = idSource({ ...parts, sweeper: { nudge() {} } }, new AbortController().signal);
  const next = nextIds(5);
  const [id] = await addTo([{ tenant: "b", queue: "default" }]);
  expect(await next).toMatchObject({ tenant: "b", ids: [id] });

  const events: string[] = [];
  const unsafe = () => Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));
  const away = {
    ...deps(),
    database: { ...deps().database, sql: { unsafe } },
    observe: ({ event }: { event: string }) => void events.push(event),
  };
  await createFound(away as unknown as ReturnType<typeof deps>, served).look();
  expect(events).toEqual(["database_unavailable"]);
});

test("who is next in line stays so while the signal is away", async () => {
  const served = createServed(deps(), ["a", "b", "c"], ["mail"]);
  const found = createFound(deps(), served);
  for (const tenant of ["b", "a", "c"]) found.woken({ tenant, queue: "mail" });
  const parts = { deps: { ...deps(), signal: noSignal() }, served, found, poll_timeout_seconds: 60 };
  const nextIds = idSource({ ...parts, sweeper: { nudge() {} } }, new AbortController().signal);
  await expect(nextIds(5)).rejects.toThrow(SignalUnavailableError);
  expect(["b", "a", "c"].map(() => found.next()?.tenant)).toEqual(["b", "a", "c"]);
});

describe("who is found to have jobs", () => {
  const wanted = ["a", "b", "c"];
  const mail = (tenant: string) => ({ tenant, queue: "mail" });

  test("is served in the order of being found, and goes to the end with what it has left", async () => {
    const found = createFound(deps(), createServed(deps(), wanted, ["mail", "news"]));
    await addTo([mail("a"), mail("c"), { tenant: "c", queue: "news" }, { tenant: "b", queue: "unserved" }]);
    found.woken(mail("c"));
    await found.look();
    const first = { tenant: "c", queues: new Set(["mail", "news"]) };
    expect(found.next()).toEqual(first);
    found.taken(first, true);
    expect(found.next()).toEqual({ tenant: "a", queues: new Set(["mail"]) });
    expect(found.next()).toEqual(first);
    expect(found.next()).toBeUndefined();
  });

  test("is looked for behind five hundred others that always have more", () => {
    const found = createFound(deps(), createServed(deps(), "*", ["mail"]), () => 0);
    for (const tenant of named("tenant", 500)) found.woken(mail(tenant));
    expect(found.lookInMs(false)).toBe(Infinity);
    for (let turn = 0; turn < 500; turn += 1) {
      const next = found.next();
      if (next) found.taken(next, true);
    }
    expect(found.lookInMs(false)).toBe(0);
  });

  test("is looked for soon behind others that have jobs which do not start", async () => {
    const many = named("tenant", 30);
    const queues = ["mail", ...named("queue", 99)];
    const found = createFound(deps(), createServed(deps(), many, queues), () => 0);
    await addTo(many.map(mail));
    const seen = new Set<string>();
    const rests = [];
    // A look goes through twenty tenants' queues.
    for (let look = 0; look < 6; look += 1) {
      await found.look();
      rests.push(found.lookInMs(false));
      for (let next = found.next(); next; next = found.next()) seen.add(next.tenant);
      if (look === 1) expect(seen.size).toBe(30);
    }
    expect(rests).toEqual([20, 40, 20, 80, 20, 160]);
  });

  test("is left out for a while where there was nothing in the lists, longer each time, until something comes", async () => {
    let clock = 0;
    const found = createFound(deps(), createServed(deps(), wanted, ["mail"]), () => clock);
    await addTo([mail("a")]);
    const at: number[] = [];
    for (clock = 0; clock < 400; clock += 10) {
      await found.look();
      const next = found.next();
      if (next) at.push(clock);
      if (next) found.empty(next);
    }
    expect(at).toEqual([0, 50, 150, 350]);
    found.woken(mail("a"));
    expect(found.next()).toEqual({ tenant: "a", queues: new Set(["mail"]) });
    await found.look();
    expect(found.next()).toEqual({ tenant: "a", queues: new Set(["mail"]) });
  });

  test("is looked for soon after jobs were taken, and less and less often when none are", async () => {
    const found = createFound(deps(), createServed(deps(), wanted, ["mail"]), () => 0);
    const rests = [];
    for (let look = 0; look < 9; look += 1) {
      await found.look();
      rests.push(found.lookInMs(false));
    }
    expect(rests).toEqual([20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]);
    expect(found.lookInMs(true)).toBe(Infinity);
    found.woken(mail("a"));
    expect(found.lookInMs(true)).toBe(20);
  });
});

test("without a signal, one tenant's backlog keeps no other tenant's job waiting", async () => {
  useSignal(noSignal);
  const ran: string[] = [];
  const recording = defineHandler("noop", z.looseObject({ tenant: z.string() }), ({ tenant }) => void ran.push(tenant));
  await addTo([...Array.from({ length: 50 }, () => "z-greedy"), "a-small"].map((tenant) => ({ tenant, queue: "q" })));
  work([recording], { tenants: ["z-greedy", "a-small"], queues: ["q"], concurrency: 1 });
  await eventually(() => expect(ran).toContain("a-small"));
  expect(ran.indexOf("a-small")).toBeLessThan(5);
});

test("with all tenants, one that nobody has heard of runs as soon as it is found", async () => {
  const served = createServed(deps(), "*", ["default"]);
  const found = createFound(deps(), served);
  const [id] = await addTo([{ tenant: "new", queue: "default" }]);
  await found.look();
  expect(found.next()).toEqual({ tenant: "new", queues: new Set(["default"]) });
  expect((await findJob(deps(), "new", id ?? ""))?.status).toBe("queued");
});
