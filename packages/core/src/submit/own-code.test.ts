import { eventually, ownServers, redisUrl, uniqueKeys } from "@atlasqueue/harness";
import type { SubmitMiddleware } from "@atlasqueue/contract";
import { describe, expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { migrateDatabase } from "../database/migrate.ts";
import { findJob } from "../jobs/find.ts";
import type { Observe } from "../observe/events.ts";
import { createQueue, type QueueOptions } from "../queue.ts";
import { IdempotencyMismatchError, InvalidJobError } from "./refused.ts";
import { redisSignal } from "../signal/redis/signal.ts";

const { deps, url } = engineHarness();

describe("a queue in your own code", () => {
  const open = (observe?: Observe, options: Partial<QueueOptions> = {}) => {
    const { jobsKey, dlqKey } = uniqueKeys();
    const keys = { jobs: jobsKey, deadLetters: dlqKey };
    const queue = createQueue({
      databaseUrl: url(),
      redisUrl: redisUrl(),
      keys,
      ...(observe && { observe }),
      ...options,
    });
    const signal = redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 });
    return { queue, signal, close: () => Promise.all([queue.close(), signal.close()]) };
  };

  test("a submitted job is durable and signalled, and the same key gives the same job", async () => {
    const { queue, signal, close } = open();
    const first = await queue.submit({ type: "noop", idempotency_key: "a" });
    expect(await queue.submit({ type: "noop", idempotency_key: "a" })).toEqual({ ...first, created: false });
    await eventually(async () => expect((await signal.take([main], 5)).ids).toEqual([first.id]));
    await expect(queue.submit({ type: "other", idempotency_key: "a" })).rejects.toThrow(IdempotencyMismatchError);
    await expect(queue.submit({ type: "", max_attempts: 99 })).rejects.toThrow(InvalidJobError);
    for (const idempotency_key of ["", " ", "a\0b", "a\ud800", "x".repeat(513)])
      await expect(queue.submit({ type: "noop", idempotency_key })).rejects.toThrow(InvalidJobError);
    await close();
  });

  test("middleware goes around each job, alone or one of many, and may add to its payload", async () => {
    const seen: [type: string, said: unknown][] = [];
    const adds: SubmitMiddleware = async ({ type, payload }, next) => {
      if (type === "refused") throw new Error("not this one");
      payload["by"] = "ada";
      const { id } = await next();
      seen.push([type, id]);
    };
    const inner: SubmitMiddleware = ({ type, payload }, next) =>
      type === "skipped" ? undefined : (seen.push([type, payload["by"]]), next());
    const { queue, close } = open(undefined, { middleware: [adds, inner] });
    const payload = { n: 1 };
    const one = await queue.submit({ type: "one", payload });
    const many = await queue.submitMany([{ type: "a" }, { type: "b", payload }]);
    const flow = await queue.submitFlow({ jobs: [{ type: "c", ref: "c" }], then: { type: "d" } });
    const inside = await deps.database.sql.begin((tx) => queue.submitIn(tx, { type: "e" }));
    const before = await deps.database.sql.begin((tx) => queue.submitFlowIn(tx, { jobs: [{ type: "f" }] }));
    const ids = [one, ...many, ...flow.jobs, flow.then, inside, ...before].map((job) => job?.id);
    const types = ["one", "a", "b", "c", "d", "e", "f"];
    expect(seen.filter(([, said]) => said === "ada").map(([type]) => type)).toEqual(types);
    expect(new Map(seen.filter(([, said]) => said !== "ada"))).toEqual(
      new Map(types.map((type, at) => [type, ids[at]])),
    );
    expect((await findJob(deps, "default", many[1]?.id ?? ""))?.payload).toEqual({ n: 1, by: "ada" });
    expect(payload).toEqual({ n: 1 });
    const stored = () => deps.database.sql`SELECT 1 FROM atlasqueue.jobs`;
    const left = (await stored()).length;
    await expect(queue.submitMany([{ type: "a" }, { type: "refused" }, { type: "b" }])).rejects.toThrow("not this one");
    await expect(queue.submit({ type: "skipped" })).rejects.toThrow("must call next()");
    await expect(queue.submitMany([{ type: "a" }, { type: "" }])).rejects.toThrow(InvalidJobError);
    expect(await queue.submitMany([])).toEqual([]);
    expect(await stored()).toHaveLength(left);
    await close();
  });

  test("a flow is stored whole, what is ready in it is signalled, and the same key gives the same flow", async () => {
    const { queue, signal, close } = open();
    const flow = {
      jobs: [
        { ref: "a", type: "noop" },
        { type: "noop", depends_on: ["a"] },
      ],
      then: { type: "noop" },
      idempotency_key: "flow",
    };
    const first = await queue.submitFlow(flow);
    expect([...first.jobs, first.then].map((one) => one?.status)).toEqual(["queued", "blocked", "blocked"]);
    expect(await queue.submitFlow(flow)).toMatchObject({ flow_id: first.flow_id, then: { id: first.then?.id } });
    await eventually(async () => expect((await signal.take([main], 5)).ids).toEqual([first.jobs[0]?.id]));
    await expect(queue.submitFlow({ ...flow, jobs: flow.jobs.slice(0, 1) })).rejects.toThrow(IdempotencyMismatchError);
    const nobody = "01920000-0000-7000-8000-000000000000";
    for (const parent of ["b", nobody])
      await expect(queue.submitFlow({ jobs: [{ type: "noop", depends_on: [parent] }] })).rejects.toThrow(
        `/jobs/0/depends_on/0 must be the ref of a job in this batch, or the id of one that exists; got "${parent}"`,
      );
    await expect(queue.submitFlow({ ...flow, idempotency_key: "" })).rejects.toThrow(InvalidJobError);
    expect((await queue.submitFlow({ jobs: [{ type: "noop" }] })).flow_id).toBeNull();
    await close();
  });

  test("thousands of jobs come back in order", async () => {
    const { queue, close } = open();
    const jobs = Array.from({ length: 2_500 }, (_, at) => ({ type: "noop", payload: { at } }));
    const ids = (await queue.submitMany(jobs)).map(({ id }) => id);
    const stored = await deps.database.sql`SELECT id FROM atlasqueue.jobs ORDER BY (payload ->> 'at')::int`;
    expect(stored.map(({ id }) => id as string)).toEqual(ids);
    expect(ids.toSorted()).toEqual(ids);
    await close();
  });

  test("in a transaction of yours a job exists when it commits, and never when it rolls back", async () => {
    const { queue, signal, close } = open();
    const { sql } = deps.database;
    const job = {
      type: "noop",
      payload: { "it's": 'a "quoted" \\ text' },
      idempotency_key: "in-tx",
      delay_seconds: 0,
    };
    const { id } = await sql.begin(async (tx) => {
      const submitted = await queue.submitIn(tx, job);
      expect(await findJob(deps, "default", submitted.id)).toBeUndefined();
      // None of our settings stay in the caller's transaction.
      const [row] = await tx`
        SELECT current_setting('lock_timeout') AS lock_timeout, current_setting('synchronous_commit') AS synchronous_commit`;
      expect(row).toEqual({ lock_timeout: "0", synchronous_commit: "on" });
      return submitted;
    });
    expect(await findJob(deps, "default", id)).toMatchObject({ status: "blocked", payload: job.payload });
    await queue.announce({ id });
    expect(await findJob(deps, "default", id)).toMatchObject({ status: "queued" });
    expect((await signal.take([main], 5)).ids).toEqual([id]);

    const rolledBack = sql.begin(async (tx) => {
      expect(await queue.submitIn(tx, job)).toMatchObject({ id, created: false });
      const later = await queue.submitIn(tx, { type: "noop", delay_seconds: 60, idempotency_key: "rolled-back" });
      expect(later).toMatchObject({ status: "blocked", created: true });
      expect(await queue.submitIn(tx, { type: "plain", delay_seconds: 60 })).toMatchObject({ status: "scheduled" });
      throw new Error("roll back");
    });
    await expect(rolledBack).rejects.toThrow("roll back");
    expect(await sql`SELECT FROM atlasqueue.jobs`).toHaveLength(1);
    expect(await sql`SELECT FROM atlasqueue.idempotency_keys`).toHaveLength(1);
    await close();
  });
});

test("a submit whose answer was lost with the database's crash is the same job when sent again", async () => {
  const servers = await ownServers();
  await migrateDatabase(servers.postgres.url);
  const queue = createQueue({ databaseUrl: servers.postgres.url, timeoutMs: 1_000 });
  const insist = async (key: string): Promise<string> => {
    for (;;)
      try {
        return (await queue.submit({ type: "noop", idempotency_key: key })).id;
      } catch {
        // Away; the same key may be sent again.
      }
  };
  const ids = Promise.all(Array.from({ length: 200 }, (_, at) => insist(`k-${at % 100}`)));
  await servers.postgres.kill("SIGKILL");
  await servers.postgres.restart();
  expect(new Set(await ids).size).toBe(100);
  await queue.close();
  await servers.stop();
});
