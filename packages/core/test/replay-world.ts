import type { Actor, ReplayFilter } from "@atlasqueue/contract";
import { recordEvents, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { OperationRow } from "../src/database/schema/index.ts";
import { fingerprintOf } from "../src/dead-letters/fingerprint.ts";
import { createReplay, type ReplayWish } from "../src/operations/create.ts";
import { findOperation } from "../src/operations/find.ts";
import { stepOperation, type OnChanged, type OperationTurn } from "../src/operations/step.ts";
import type { Deps } from "../src/deps.ts";

export const tenant = "default";
export const anybody: Actor = { kind: "anybody", token_id: null, name: null };

/** A database of its own for a file of tests of replays, emptied before each, and what they do to it. */
export function replayWorld() {
  let own: TestDatabase;
  let deps: Deps;
  beforeAll(async () => {
    own = await testDatabase();
    deps = { database: own.database, observe: recordEvents().observe };
  });
  afterAll(() => own.drop());
  beforeEach(
    () =>
      own.database
        .sql`TRUNCATE atlasqueue.jobs, atlasqueue.job_attempts, atlasqueue.claims, atlasqueue.operations, atlasqueue.job_groups`,
  );

  /** Jobs that died one after another, each with its number as payload. */
  const dead = (count: number, { type = "mail", error = "E", of = tenant } = {}) => own.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload, last_error, error_fingerprint)
    SELECT gen_random_uuid(), ${of}, ${type}, 'dead', now(), now(), now(), now(), now() - (1 + n) * interval '1 second',
           json_build_object('n', n, 'old', true), ${error}, ${fingerprintOf(error)}
    FROM generate_series(1, ${count}::int) AS n`;
  const start = async (wish: Partial<ReplayWish> & { filter: ReplayFilter }): Promise<OperationRow> => {
    const row = await createReplay(deps, { tenant, ...wish }, anybody);
    if (!row) throw new Error("too many");
    return row;
  };
  const step = (on: Deps = deps, onChanged: OnChanged = async () => {}, turn?: OperationTurn) =>
    stepOperation(on, onChanged, turn);
  /** Pages until none is due, as if no time passed between them. */
  const runOperation = async (on: Deps = deps): Promise<void> => {
    for (let page = 0; page < 100; page += 1) {
      await own.database.sql`UPDATE atlasqueue.operations SET next_at = least(next_at, now())`;
      if (!(await step(on))) return;
    }
    throw new Error("no end");
  };
  const look = async ({ id }: OperationRow) => (await findOperation(deps, tenant, id)) as OperationRow;
  const statuses = async (of = tenant) => {
    const rows = await own.database
      .sql`SELECT status, count(*)::int AS count FROM atlasqueue.jobs WHERE tenant = ${of} GROUP BY status`;
    return Object.fromEntries(rows.map(({ status, count }) => [String(status), Number(count)]));
  };
  return {
    get deps() {
      return deps;
    },
    get sql() {
      return own.database.sql;
    },
    dead,
    start,
    step,
    runOperation,
    look,
    statuses,
  };
}
