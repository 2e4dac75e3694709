import { setTimeout as delay } from "node:timers/promises";
import { steppingDatabase, type Step } from "@atlasqueue/harness";
import { expect } from "vitest";
import type { Database } from "../../src/database/connect.ts";
import type { Deps } from "../../src/deps.ts";
import type { Inside } from "./inside.ts";

type Run<Scene> = (scene: Scene, deps: Deps) => Promise<unknown>;

/** Two moves are run against each other: one is stopped at a step while the other runs from start to end. */
export type Pairs<Scene> = {
  database: Database;
  /** What both start from: the same each time, and nothing else is in the database. */
  scene(): Promise<Scene>;
  /** What must hold while one is stopped. */
  holdsNow(scene: Scene): Promise<void>;
  /** What must hold when both are done. */
  holdsAfter(scene: Scene): Promise<void>;
};

/** One move stopped at a step of its own, and one that runs meanwhile; that `waits` if it may. */
type Pair<Scene> = { stopped: Run<Scene>; stop: Stop; beside: { run: Run<Scene>; waits: boolean } };

/** A step of a move; `open` when it is inside a transaction that may hold locks. */
export type Stop = { kind: Step; number: number; open: boolean };

/** A batch gives up on a locked row after 200 ms, and on as many as there may be in its few statements. */
const batch_waits_ms_max = 1_200;
/** For a move that may wait: long enough for one that gives up on a row after 200 ms to do so. */
const single_waits_ms_max = 250;
/** For a move that tries again and again: shorter than a stopped transaction may live. */
const tries_ms_max = 1_200;
const look_ms = 20;
const in_turn = true;

/** The steps of a move, when it runs alone. */
export async function stopsOf<Scene extends { deps: Deps }>(
  pairs: Pairs<Scene>,
  run: Run<Scene>,
): Promise<readonly Stop[]> {
  const scene = await pairs.scene();
  const stops: Stop[] = [];
  const database = steppingDatabase(
    pairs.database,
    (kind, number, _text, sent) =>
      // Before its first statement a transaction holds nothing.
      void stops.push({ kind, number, open: kind === "commit" || (kind === "statement" && sent.length > 1) }),
    { in_turn },
  );
  await run(scene, { ...scene.deps, database });
  await pairs.holdsAfter(scene);
  return stops;
}

/**
 * Stop one move at a step while another, `beside`, runs whole. That may wait for the first one only if it is about one
 * job, and only while the first one has a transaction open.
 */
export async function stopAt<Scene extends { deps: Deps }>(
  pairs: Pairs<Scene>,
  { stopped, stop, beside }: Pair<Scene>,
): Promise<void> {
  const scene = await pairs.scene();
  let whole: Promise<unknown> | undefined;
  const onStep = async (kind: Step, number: number): Promise<void> => {
    if (number !== stop.number) return;
    expect(kind, "a move has the same steps each time").toBe(stop.kind);
    const holders = await openTransactions(pairs.database);
    whole = beside.run(scene, scene.deps);
    await runsBeside(pairs, scene, whole, holders, beside.waits && stop.open);
  };
  await stopped(scene, { ...scene.deps, database: steppingDatabase(pairs.database, onStep, { in_turn }) });
  expect(whole, `step ${stop.number} is reached`).toBeDefined();
  await whole;
  await pairs.holdsAfter(scene);
}

/**
 * The same, with the move stopped inside the statement that begins at this step, between its snapshot and the first row
 * it reads.
 */
export async function stopInside<Scene extends { deps: Deps }>(
  pairs: Pairs<Scene>,
  inside: Inside,
  { stopped, stop, beside }: Pair<Scene>,
): Promise<void> {
  const scene = await pairs.scene();
  const onStep = async (_kind: Step, number: number): Promise<void> => {
    if (number === stop.number) await inside.close();
    // That statement read nothing.
    if (number === stop.number + 1) await inside.open();
  };
  const first = stopped(scene, { ...scene.deps, database: steppingDatabase(inside.database, onStep, { in_turn }) });
  let whole: Promise<unknown> | undefined;
  try {
    const pid = await inside.stopped(first);
    if (pid !== undefined) {
      whole = beside.run(scene, scene.deps);
      await runsBeside(pairs, scene, whole, [pid], beside.waits && stop.open);
    }
  } finally {
    await inside.open();
    await Promise.allSettled([first, whole]);
  }
  await first;
  await whole;
  await pairs.holdsAfter(scene);
}

/** Until `whole` is done, or waits for `holders` where it may; it is awaited when the stopped one is, unless that fails first. */
async function runsBeside<Scene>(
  pairs: Pairs<Scene>,
  scene: Scene,
  whole: Promise<unknown>,
  holders: readonly number[],
  may_wait: boolean,
): Promise<void> {
  whole.catch(() => {});
  const end = await doneOrWaiting(pairs.database, whole, holders, may_wait);
  if (!may_wait) expect(end, "it does not wait for the one that is stopped").toBe("done");
  await pairs.holdsNow(scene);
}

/** Who has a transaction open while nothing else is done: the one that is stopped, unless it is between two. */
async function openTransactions({ sql }: Database): Promise<readonly number[]> {
  const rows = await sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'`;
  return rows.map(({ pid }) => pid);
}

/**
 * The time that counts is what the server says was spent in waiting for these very transactions, so that a busy machine
 * changes nothing, nor does what waits for something else.
 */
async function doneOrWaiting(
  { sql }: Database,
  move: Promise<unknown>,
  holders: readonly number[],
  may_wait: boolean,
): Promise<"done" | "waiting"> {
  let done = false;
  const ended = move.finally(() => (done = true));
  const watch = async () => {
    const began_at = performance.now();
    /** Each wait as long as it was when last seen. */
    const waits = new Map<string, number>();
    for (;;) {
      await delay(look_ms);
      if (done) return;
      const waiting = await sql<{ wait: string; ms: number }[]>`
        SELECT concat(pid, ' ', waitstart) AS wait, extract(epoch FROM clock_timestamp() - waitstart)::float * 1000 AS ms
        FROM pg_locks WHERE NOT granted AND waitstart IS NOT NULL AND pg_blocking_pids(pid) && ${`{${holders.join(",")}}`}::int[]`;
      for (const { wait, ms } of waiting) waits.set(wait, ms);
      const waited_ms = [...waits.values()].reduce((sum, ms) => sum + ms, 0);
      if (waited_ms > (may_wait ? single_waits_ms_max : batch_waits_ms_max)) return;
      if (may_wait && performance.now() - began_at > tries_ms_max) return;
    }
  };
  await Promise.race([ended, watch()]);
  return done ? "done" : "waiting";
}
