import { eventually, submission } from "@atlasqueue/harness";
import { beforeEach, describe, expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { openDatabase } from "../../test/opened.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { findJob } from "../jobs/find.ts";
import { createFollowUps, type FollowUps } from "../follow-ups.ts";
import { createQueue } from "../queue.ts";
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

  test("a conflict affects only its own request", async () => {
    const submitter = createSubmitter(deps, options);
    await submitter.submit(submission({}, "old"), 10);
    const [fresh, replayed, mismatched, twin, again] = await Promise.all([
      submitter.submit(submission({}, "new"), 10),
      submitter.submit(submission({}, "old"), 10),
      submitter.submit(submission({ priority: 9 }, "old"), 10),
      submitter.submit(submission({}, "twin"), 10),
      submitter.submit(submission({}, "twin"), 10),
    ]);
    expect([fresh, replayed, mismatched, twin, again].map((one) => one?.kind)).toEqual([
      "created",
      "replayed",
      "mismatch",
      "created",
      "replayed",
    ]);
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

  test("a key submitted in an open transaction makes no one wait, and the first job to be admitted gets it", async () => {
    const submitter = createSubmitter({ ...deps, followUps: createFollowUps(deps) }, options);
    const queue = createQueue({ databaseUrl: url() });
    const inside = await deps.database.sql.begin(async (tx) => {
      const submitted = await queue.submitIn(tx, { type: "noop", idempotency_key: "held" });
      const outcomes = await Promise.all(
        ["held", ...Array.from({ length: 20 }, (_, at) => `free-${at}`)].map((key) =>
          submitter.submit(submission({}, key), 10),
        ),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 21 }, () => "created"));
      return { submitted, first: outcomes[0] };
    });
    await queue.announce(inside.submitted);
    const again = await submitter.submit(submission({}, "held"), 10);
    const first = inside.first && "job" in inside.first ? inside.first.job.id : "";
    expect(again).toMatchObject({ kind: "replayed", job: { id: first } });
    expect(await findJob(deps, "default", inside.submitted.id)).toMatchObject({
      status: "cancelled",
      last_error: expect.stringContaining(first),
    });
    await queue.close();
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
