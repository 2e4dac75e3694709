// @module-tag slow
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { ack, createMany, lease, post, type Held } from "./remote-client.ts";
import { startSystem } from "./system.ts";

const jobs = 2_000;
const workers = 25;
const system = forFile(startSystem);

type Run = { job: string; attempt: number; from: number; until: number };

test("25 remote workers drain 2,000 jobs over two API processes: none runs twice at once and none is lost", async () => {
  const quiet = { LOG_LEVEL: "error" };
  const [first, second] = await Promise.all([
    system.startApi(quiet),
    system.startApi(quiet),
    // For its sweep only: it serves another queue.
    system.startWorker({ ...quiet, WORKER_QUEUES: "local" }),
  ]);
  const urls = [first.url, second.url];
  const ids = await createMany(first.url, jobs, {
    max_attempts: 25,
    backoff: { kind: "fixed", base_seconds: 0, max_seconds: 0 },
  });

  const runs: Run[] = [];
  const succeeded = new Set<string>();
  let vanished = 0;

  /** Work on what was leased, in one of the possible ways. Times are this process's, as all runs are in it. */
  const work = async (url: string, held: Held[], chance: number): Promise<void> => {
    const from = performance.now();
    const { lease_token } = held[0] as Held;
    const ended = (accepted: readonly Held[]) => {
      // Ours until we asked to end it: another worker may have it before the answer arrives.
      for (const { job } of accepted) runs.push({ job: job.id, attempt: job.attempts, from, until: asked });
    };
    let asked = performance.now();
    if (chance < 0.03) {
      vanished += held.length;
      return;
    }
    if (chance < 0.2) {
      const beats = held.map(({ job }) =>
        post(url, `/jobs/${job.id}/heartbeat`, { lease_token, lease_seconds: 10, progress: { at: 1 } }),
      );
      for (const beat of await Promise.all(beats)) expect(beat.status).toBe(200);
      await delay(Math.random() * 20);
    }
    asked = performance.now();
    if (chance < 0.4) {
      const [acked, nacked] = [held.slice(1), held.slice(0, 1)];
      const items = (some: Held[]) => some.map(({ job }) => ({ id: job.id, lease_token }));
      const settled = await post(url, "/leases/settle", {
        acks: items(acked),
        nacks: items(nacked).map((one) => ({ ...one, error: "not now" })),
      });
      expect(settled.status).toBe(200);
      expect(JSON.stringify(settled.body)).not.toContain("lease_lost");
      for (const { job } of acked) succeeded.add(job.id);
      return ended(held);
    }
    const chanceOfNack = chance < 0.5;
    for (const one of held) {
      asked = performance.now();
      const answer = chanceOfNack
        ? await post(url, `/jobs/${one.job.id}/nack`, { lease_token, error: "no", delay_seconds: 0.05 })
        : await ack(url, one, { by: "remote" });
      expect(answer.status).toBe(200);
      if (!chanceOfNack) succeeded.add(one.job.id);
      ended([one]);
    }
  };

  const remoteWorker = async (number: number): Promise<void> => {
    while (succeeded.size < jobs) {
      const url = urls[number % 2] ?? "";
      const chance = Math.random();
      const held = await lease(url, {
        worker_id: `remote-${number}`,
        // Those that will vanish hold theirs for a second; the others longer than any pause of this machine.
        lease_seconds: chance < 0.03 ? 1 : 60,
        max_jobs: 1 + (number % 10),
        wait_seconds: 1,
      });
      if (held.length > 0) await work(url, held, chance);
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, number) => remoteWorker(number)));

  expect(vanished).toBeGreaterThan(0);
  expect([...succeeded].sort()).toEqual(ids.toSorted());
  const rows = await system.sql<{ status: string; n: number }[]>`
    SELECT status, count(*)::int AS n FROM atlasqueue.jobs GROUP BY status`;
  expect(rows).toEqual([{ status: "succeeded", n: jobs }]);

  // What this process saw: no two runs of a job at the same time, and no attempt twice.
  const byJob = Map.groupBy(runs, ({ job }) => job);
  for (const of of byJob.values()) {
    of.sort((a, b) => a.from - b.from);
    for (let at = 1; at < of.length; at += 1)
      expect(of[at]?.from).toBeGreaterThanOrEqual(of[at - 1]?.until ?? Infinity);
    expect(new Set(of.map(({ attempt }) => attempt)).size).toBe(of.length);
  }

  // What the database recorded: attempts numbered without gaps, each begun after the previous one ended, and as many
  // lost ones as workers vanished with. Its times are when a statement began: a claim that had to wait for a locked row
  // began a moment before.
  const [record] = await system.sql<{ gaps: number; overlaps: number; lost: number }[]>`
    WITH all_attempts AS (
      SELECT job_id, attempt, started_at, finished_at, outcome FROM atlasqueue.job_attempts
      UNION ALL SELECT id, attempts, started_at, finished_at, status FROM atlasqueue.jobs
    ), neighbours AS (
      SELECT *, lag(attempt, 1, 0::smallint) OVER of_job AS before, lag(finished_at) OVER of_job AS before_finished
      FROM all_attempts WINDOW of_job AS (PARTITION BY job_id ORDER BY attempt)
    )
    SELECT count(*) FILTER (WHERE attempt <> before + 1)::int AS gaps,
           count(*) FILTER (WHERE started_at < before_finished - interval '1 second')::int AS overlaps,
           count(*) FILTER (WHERE outcome = 'lost')::int AS lost
    FROM neighbours`;
  expect(record).toEqual({ gaps: 0, overlaps: 0, lost: vanished });

  // Claims are cleared away when they are settled; one that came too late for its call is left to the sweep.
  await eventually(async () =>
    expect((await system.sql`SELECT token FROM atlasqueue.claims WHERE job_ids <> '{}'`).length).toBeLessThanOrEqual(
      workers,
    ),
  );
});
