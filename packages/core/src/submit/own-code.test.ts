import { eventually, ownServers, recordEvents, redisUrl, uniqueKeys } from "@atlasqueue/harness";
import type { SubmitMiddleware } from "@atlasqueue/contract";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { describe, expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { executeIn } from "../database/caller-transaction.ts";
import { migrateDatabase } from "../database/migrate.ts";
import { findJob } from "../jobs/find.ts";
import type { AtlasEvent, Observe } from "../observe/events.ts";
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

  /** Thousands of jobs: their ids, and which were signalled; `late` when Redis took too long for a signal. */
  const submitThousands = async () => {
    const { events, observe } = recordEvents();
    const { queue, signal } = open(observe);
    const answers = await queue.submitMany(
      Array.from({ length: 2_500 }, (_, at) => ({ type: "noop", payload: { at } })),
    );
    expect((await findJob(deps, "default", answers[1_234]?.id ?? ""))?.payload).toEqual({ at: 1_234 });
    // The answers do not wait for the signals; ending the queue does.
    await queue.close();
    const signalled = (await signal.take([main], 5_000)).ids;
    await signal.close();
    return { submitted: answers.map(({ id }) => id), signalled, late: events.some(isLate) };
  };
  const isLate = ({ event }: AtlasEvent) => event === "signal_failed";

  test("thousands of jobs come back in order", async () => {
    // A late signal, as on a busy machine, is left to the sweep: such a run says nothing about the others.
    const { submitted, signalled } = await eventually(async () => {
      const run = await submitThousands();
      return !run.late && run;
    });
    expect(signalled).toEqual(submitted);
  });

  const drivers = {
    "postgres.js": async (work: (tx: never) => Promise<void>) => {
      const sql = postgres(url(), { max: 1 });
      await sql.begin((tx) => work(tx as never)).finally(() => sql.end());
    },
    drizzle: async (work: (tx: never) => Promise<void>) => {
      const sql = postgres(url(), { max: 1 });
      await drizzle(sql)
        .transaction((tx) => work(tx as never))
        .finally(() => sql.end());
    },
    "node-postgres": async (work: (tx: never) => Promise<void>) => {
      const { Client } = (await import("pg")).default;
      const client = new Client({ connectionString: url() });
      await client.connect();
      try {
        await client.query("BEGIN");
        await work(client as never);
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        await client.end();
      }
    },
  };

  test.each(Object.entries(drivers))(
    "in a transaction of %s a job exists when it commits, and never when it rolls back",
    async (_name, transaction) => {
      const { queue, signal, close } = open();
      const job = {
        type: "noop",
        payload: { "it's": 'a "quoted" \\ text' },
        idempotency_key: "in-tx",
        delay_seconds: 0,
      };
      let id = "";
      await transaction(async (tx) => {
        const submitted = await queue.submitIn(tx, job);
        id = submitted.id;
        expect(await findJob(deps, "default", id)).toBeUndefined();
        // None of our settings stay in the caller's transaction.
        const [row] = await executeIn(tx)<{ lock_timeout: string; synchronous_commit: string }>({
          text: "SELECT current_setting('lock_timeout') AS lock_timeout, current_setting('synchronous_commit') AS synchronous_commit",
          params: [],
        });
        expect(row).toEqual({ lock_timeout: "0", synchronous_commit: "on" });
      });
      expect(await findJob(deps, "default", id)).toMatchObject({ status: "blocked", payload: job.payload });
      await queue.announce({ id });
      expect(await findJob(deps, "default", id)).toMatchObject({ status: "queued" });
      expect((await signal.take([main], 5)).ids).toEqual([id]);

      await transaction(async (tx) => {
        expect(await queue.submitIn(tx, job)).toMatchObject({ id, created: false });
        const later = await queue.submitIn(tx, { type: "noop", delay_seconds: 60, idempotency_key: "rolled-back" });
        expect(later).toMatchObject({ status: "blocked", created: true });
        expect(await queue.submitIn(tx, { type: "plain", delay_seconds: 60 })).toMatchObject({ status: "scheduled" });
        throw new Error("roll back");
      }).catch((error: Error) => expect(error.message).toBe("roll back"));
      expect(await deps.database.sql`SELECT FROM atlasqueue.jobs`).toHaveLength(1);
      expect(await deps.database.sql`SELECT FROM atlasqueue.idempotency_keys`).toHaveLength(1);
      await close();
    },
  );
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
