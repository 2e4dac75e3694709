import { setTimeout as delay } from "node:timers/promises";
import { steppingDatabase, type Step } from "@atlasqueue/testing";
import { expect } from "vitest";
import type { Database } from "../src/database/connect.ts";
import type { Deps } from "../src/deps.ts";

export type Move<Scene> = (scene: Scene, deps: Deps) => Promise<unknown>;

/** Two moves are run against each other: one is stopped at a step while the other runs from start to end. */
export type Pairs<Scene> = {
  database: Database;
  /** What both start from: the same each time, and nothing else is in the database. */
  scene(): Promise<Scene>;
  /** Where to stop. */
  stopsAt(step: Step, number: number): boolean;
  /** What must hold while one is stopped. */
  holdsNow?(scene: Scene): Promise<void>;
  /** What must hold when both are done. */
  holdsAfter(scene: Scene): Promise<void>;
};

/** A batch gives up on a locked row after 200 ms, and on as many as there may be in its few statements. */
const batch_waits_ms_max = 1_200;
/** For a move that may wait: long enough for one that gives up on a row after 200 ms to do so. */
const single_waits_ms_max = 250;
/** For a move that tries again and again: shorter than a stopped transaction may live. */
const tries_ms_max = 1_200;
const look_ms = 20;

/** The steps at which to stop a move: those it has when it runs alone. */
export async function stopsOf<Scene extends { deps: Deps }>(
  pairs: Pairs<Scene>,
  move: Move<Scene>,
): Promise<readonly number[]> {
  const scene = await pairs.scene();
  const stops: number[] = [];
  const database = steppingDatabase(pairs.database, (step, number) => {
    if (pairs.stopsAt(step, number)) stops.push(number);
  });
  await move(scene, { ...scene.deps, database });
  await pairs.holdsAfter(scene);
  return stops;
}

/** Stop one move at the step of this number while another, `beside`, runs whole; that may wait for it, or not. */
export async function stopAt<Scene extends { deps: Deps }>(
  pairs: Pairs<Scene>,
  { stopped, at, beside, may_wait }: { stopped: Move<Scene>; at: number; beside: Move<Scene>; may_wait: boolean },
): Promise<void> {
  const scene = await pairs.scene();
  let whole: Promise<unknown> | undefined;
  const database = steppingDatabase(pairs.database, async (_step, number) => {
    if (number !== at) return;
    whole = beside(scene, scene.deps);
    const end = await doneOrWaiting(pairs.database, whole, may_wait);
    if (!may_wait) expect(end, "a batch does not wait for locked rows").toBe("done");
    await pairs.holdsNow?.(scene);
  });
  await stopped(scene, { ...scene.deps, database });
  expect(whole, `step ${at} is reached`).toBeDefined();
  await whole;
  await pairs.holdsAfter(scene);
}

/** The time is spent in waiting for locks, as the server says, so that a busy machine changes nothing. */
async function doneOrWaiting(
  { sql }: Database,
  move: Promise<unknown>,
  may_wait: boolean,
): Promise<"done" | "waiting"> {
  let done = false;
  const ended = move.finally(() => (done = true));
  const watch = async () => {
    const began_at = performance.now();
    let looked_at = began_at;
    let waited_ms = 0;
    for (;;) {
      await delay(look_ms);
      if (done) return;
      const waiting = await sql`
        SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`;
      const now = performance.now();
      if (waiting.length > 0) waited_ms += now - looked_at;
      looked_at = now;
      if (waited_ms > (may_wait ? single_waits_ms_max : batch_waits_ms_max)) return;
      if (may_wait && now - began_at > tries_ms_max) return;
    }
  };
  await Promise.race([ended, watch()]);
  return done ? "done" : "waiting";
}
