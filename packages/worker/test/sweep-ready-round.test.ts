import { redisSignal, type Signal } from "@atlasqueue/core";
import { queueKeys } from "../../core/src/signal/keys.ts";
import { createReadyRound } from "../../core/src/maintenance/sweep/ready-round.ts";
import { eventually, redisUrl, uniqueKeys } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { drivers, noop, workerHarness } from "./harness.ts";

const harness = workerHarness();

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
const lengthOf = async (signal: Signal, tenant: string, queue: string) => (await signal.look({ tenant, queue })).length;

test.each(["redis", "memory"] as const)(
  "with %s, jobs of twenty lost signals run among three hundred others",
  async (driver) => {
    harness.useSignal(drivers[driver]);
    const served = [...names("a-served", 10), ...names("z-served", 10)];
    await harness.lose("default", names("other", 300));
    await harness.lose("default", served);
    harness.work([noop], { queues: served });
    await eventually(
      async () => {
        const [row] = await harness.sql()<{ done: number }[]>`
        SELECT count(*)::int AS done FROM atlasqueue.jobs WHERE status = 'succeeded'`;
        expect(row?.done).toBe(20);
      },
      { timeout_ms: 10_000 },
    );
  },
  60_000,
);

test("a tenant with nine thousand queues keeps no other tenant's jobs waiting", async () => {
  harness.useSignal(drivers.redis);
  await harness.lose("greedy", names("q", 9_000));
  for (const tenant of ["a-small", "z-small"]) await harness.lose(tenant, ["mail"]);
  const deps = harness.deps();
  await createReadyRound(deps)();
  for (const tenant of ["a-small", "z-small"]) expect(await lengthOf(deps.signal, tenant, "mail")).toBe(1);
});

test("the round comes to every queue, and then starts over", async () => {
  harness.useSignal(drivers.redis);
  const queues = names("q", 2_500);
  await harness.lose("default", queues);
  const deps = harness.deps();
  const round = createReadyRound(deps);
  let resignalled = 0;
  for (let sweep = 0; sweep < 100 && resignalled < queues.length; sweep += 1) resignalled += await round();
  expect(resignalled).toBe(queues.length);
  const signalled = (await deps.signal.take([{ tenant: "default", queue: "q-7" }], 10)).ids;
  expect(signalled).toHaveLength(1);
  for (let sweep = 0; sweep < 100 && (await round()) === 0; sweep += 1);
  expect(await lengthOf(deps.signal, "default", "q-7")).toBe(1);
});

test("a key of another type in place of one list keeps no other tenant's jobs waiting", async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  harness.useSignal(() => redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 }));
  for (const tenant of ["a", "m", "z"]) await harness.lose(tenant, ["mail"]);
  const redis = new Redis(redisUrl());
  onTestFinished(() => redis.disconnect());
  await redis.set(queueKeys(keys, { tenant: "z", queue: "mail" }).list, "foreign");
  const round = createReadyRound(harness.deps());
  await expect(round()).rejects.toThrow(/WRONGTYPE/);
  for (const tenant of ["a", "m"]) expect(await lengthOf(harness.deps().signal, tenant, "mail")).toBe(1);
});
