import { eventually, submission } from "@atlasqueue/harness";
import { beforeEach, describe, expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { openDatabase } from "../../test/opened.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { createFollowUps, type FollowUps } from "../follow-ups.ts";
import type { Signal } from "../signal/signal.ts";
import { createSubmitter } from "./submitter.ts";

const options = { idempotency_ttl_seconds: 60 };
const { deps: core, url } = engineHarness();
let deps: Deps & { signal: Signal; followUps: FollowUps };
beforeEach(() => void (deps = { ...core, followUps: createFollowUps(core) }));

describe("group commit", () => {
  test("jobs submitted side by side share transactions, and each gets its own answer", async () => {
    const submitter = createSubmitter(deps, options);
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, (_, at) => submitter.submit(submission({ payload: { at } }, `key-${at}`), 100)),
    );
    await submitter.close();
    await deps.followUps.stop();
    for (const [at, outcome] of outcomes.entries())
      expect(outcome).toMatchObject({ kind: "created", job: { payload: { at } } });
    const [shared] = await deps.database.sql<
      { transactions: number }[]
    >`SELECT count(DISTINCT xmin::text)::int AS transactions FROM atlasqueue.jobs`;
    expect(shared?.transactions).toBeLessThan(10);
    expect((await deps.signal.take([main], 1_000)).ids.sort()).toEqual(
      outcomes.map((one) => ("job" in one ? one.job.id : "")).sort(),
    );
  });

  test("a row PostgreSQL refuses fails only its own request", async () => {
    const submitter = createSubmitter(deps, options);
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        submitter.submit({ ...submission({}, `row-${at}`), ...(at === 7 ? { tenant: "a\0b" } : {}) }, 10),
      ),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === "rejected")).toHaveLength(1);
    expect(answers[7]?.status).toBe("rejected");
    expect(await deps.database.sql`SELECT FROM atlasqueue.jobs`).toHaveLength(19);
  });

  test("an INSERT holds no more bytes than it may", async () => {
    const submitter = createSubmitter(deps, options);
    await Promise.all(Array.from({ length: 6 }, () => submitter.submit(submission(), 3 * 1_048_576)));
    const rows = await deps.database.sql<
      { n: number }[]
    >`SELECT count(*)::int AS n FROM atlasqueue.jobs GROUP BY xmin::text`;
    expect(Math.max(...rows.map((row) => row.n))).toBe(1);
  });

  test("a failed commit is an unknown outcome for all; no one waits longer than the deadline", async () => {
    const database = openDatabase({ url: url(), connectionsMax: 4, timeoutMs: 400 });
    const submitter = createSubmitter({ ...deps, database }, options);
    // They are answered while the table is locked: no one waits for that to end.
    await deps.database.sql.begin(async (lock) => {
      await lock`LOCK TABLE atlasqueue.jobs IN ACCESS EXCLUSIVE MODE`;
      const answers = Promise.allSettled(Array.from({ length: 50 }, () => submitter.submit(submission(), 10)));
      for (const answer of await answers)
        expect(answer).toMatchObject({ status: "rejected", reason: expect.any(DatabaseTimeoutError) });
    });
    await eventually(async () => expect(await submitter.submit(submission(), 10)).toMatchObject({ kind: "created" }));
  });
});
