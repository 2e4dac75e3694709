import { admitAll, closeEdges, releaseChildren } from "./advance.ts";
import { type OnParentFailure, isFinal, type JobStatus } from "@atlasqueue/contract";
import { recordEvents } from "@atlasqueue/harness";
import { chance } from "@atlasqueue/harness/servers";
import type { Database, Sql } from "../src/database/connect.ts";
import type { Deps } from "../src/deps.ts";
import { advanceOverdue } from "../src/groups/overdue.ts";
import { cancel } from "../src/jobs/cancel.ts";
import { isRetryable, retry } from "../src/jobs/retry.ts";
import { claim } from "../src/lease/claim.ts";
import { complete, fail } from "../src/settle/settle.ts";
import { addFlow, type Member } from "./add-flow.ts";

/** What a broken version does otherwise: statements with a part of their text replaced, or an act before a commit. */
export type Mutant = {
  replaces?: readonly [string, string];
  beforeCommit?: (sql: Sql, id: string) => Promise<unknown>;
};

type Parent = { id: string; policy: OnParentFailure };
type State = ReadonlyMap<string, { status: JobStatus; attempts: number }>;

const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 300 };
const jobs_max = 60;
const acts_max = 120;

/**
 * Run a random flow: jobs end, fail, and are cancelled and retried, in any order with the statements that release
 * others, several of them at once, some settlements never committed; then everything runs out. Throws when a job starts
 * before its parents ended as its policy says, or when at the end one is not what those of its parents make of it.
 *
 * @example
 * await runFlowModel(database, 7);
 */
export async function runFlowModel(database: Database, seed: number, mutant: Mutant = {}): Promise<void> {
  const random = chance(seed);
  const below = (max: number) => Math.floor(random() * max);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const { sql } = database;
  const recorded = recordEvents();
  const deps: Deps = { database: mutated(database, mutant), observe: recorded.observe };

  const members: Record<string, Member> = {};
  const count = 3 + below(jobs_max - 2);
  for (let at = 0; at < count; at += 1) {
    const earlier = Object.keys(members);
    const after = [...new Set(Array.from({ length: below(4) }, () => pick(earlier)))].filter(Boolean);
    members[`j${at}`] = {
      ...(after.length > 0 && { after, on_parent_failure: pick(["cancel", "cancel", "wait", "run"] as const) }),
      ...(below(3) === 0 && { group: pick(["g", "h"]) }),
    };
  }
  const ids = await addFlow({ ...deps, database }, members);
  const parentsOf = new Map<string, Parent[]>();
  for (const [ref, { after = [], on_parent_failure: policy = "cancel" }] of Object.entries(members))
    parentsOf.set(
      ids[ref] ?? "",
      after.map((parent) => ({ id: ids[parent] ?? "", policy })),
    );

  /** Those that ended at some time, even if they were retried since. */
  const ended = new Set<string>();
  const cancelled_by_hand = new Set<string>();
  /** A child and a parent it does without, as it was retried although that one had failed. */
  const does_without = new Set<string>();
  const started = new Set<string>();

  const look = async (): Promise<State> => {
    const rows = await sql<{ id: string; status: JobStatus; attempts: number; group_seq: string | null }[]>`
      SELECT id, status, attempts, group_seq FROM atlasqueue.jobs WHERE id = ANY(${`{${[...parentsOf.keys()].join()}}`}::uuid[])`;
    const state: State = new Map(rows.map((row) => [row.id, row]));
    for (const { id, status } of rows) if (isFinal(status)) ended.add(id);
    // Even if it was revived before this look.
    for (const event of recorded.named("job_cancelled")) if ("job_id" in event) ended.add(event.job_id);
    for (const { id, status, attempts, group_seq } of rows) {
      const free = status === "queued" || attempts > 0 || Number(group_seq ?? 0) > 0;
      if (!free || started.has(id)) continue;
      started.add(id);
      for (const parent of parentsOf.get(id) ?? [])
        if (!mayStart(state, id, parent))
          throw new Error(
            `${id} may start, but its parent ${parent.id} is ${state.get(parent.id)?.status} (${parent.policy})`,
          );
    }
    return state;
  };
  const mayStart = (state: State, id: string, { id: parent, policy }: Parent): boolean =>
    state.get(parent)?.status === "succeeded" ||
    does_without.has(`${id} ${parent}`) ||
    (policy === "run" && ended.has(parent));

  const passes: (() => Promise<unknown>)[] = [
    () => closeEdges(deps, 1 + below(10)),
    () => closeEdges(deps, 1),
    () => releaseChildren(deps, 1 + below(10)),
    () => advanceOverdue(deps, 10),
    () => admitAll(deps),
  ];
  const passAll = async () => {
    for (;;) {
      // Rows that met a lock are due later.
      await sql`UPDATE atlasqueue.outbox SET not_before = '-infinity'`;
      for (const pass of passes.slice(0, 1).concat(passes.slice(2))) await pass();
      const [left] = await sql`
        SELECT FROM atlasqueue.outbox UNION ALL SELECT FROM atlasqueue.job_groups WHERE overdue_at IS NOT NULL LIMIT 1`;
      if (!left) return;
    }
  };
  /** One is committed after the other has looked and acted. */
  const overlapping = (first: (deps: Deps) => Promise<unknown>, second: () => Promise<unknown>, commits: boolean) =>
    sql
      .begin(async (tx) => {
        await first({ ...deps, database: mutated({ ...database, sql: tx as unknown as Sql }, mutant) });
        await second();
        if (!commits) throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });

  const settle = async (state: State, succeeds: boolean, commits = true) => {
    const ready = [...state].filter(([, { status }]) => status === "queued" || status === "running").map(([id]) => id);
    if (ready.length === 0) return;
    const id = pick(ready);
    const known = leases.get(id);
    const [lease = known] = state.get(id)?.status === "queued" ? await claim(deps, [id], claimer) : [];
    if (!lease) return;
    leases.set(id, lease);
    const verdict = { kind: "dead", reason: "not_retryable" } as const;
    await overlapping(
      (within) =>
        succeeds ? complete(within, [{ lease, result: null }]) : fail(within, [{ lease, error: "x", verdict }]),
      async () => {
        await mutant.beforeCommit?.(sql, id);
        if (below(2) === 0) await pick(passes)();
      },
      commits,
    );
  };
  const leases = new Map<string, Awaited<ReturnType<typeof claim>>[number]>();

  const cancelOne = async (state: State) => {
    const open = [...state].filter(([, { status }]) => !isFinal(status)).map(([id]) => id);
    if (open.length === 0) return;
    const id = pick(open);
    if ((await cancel(deps, "default", id)).kind === "cancelled") cancelled_by_hand.add(id);
  };
  const retryOne = async (state: State) => {
    const stopped = [...state].filter(([, { status }]) => isRetryable(status)).map(([id]) => id);
    if (stopped.length === 0) return;
    const id = pick(stopped);
    // One that was started anew itself is waited for, although its mark may still be there.
    for (const { parent } of await sql`
      SELECT parent FROM atlasqueue.flow_edges JOIN atlasqueue.jobs ON jobs.id = parent AND jobs.status IN ('dead', 'cancelled')
      WHERE child = ${id} AND failed`)
      does_without.add(`${id} ${String(parent)}`);
    await retry(deps, "default", id);
    cancelled_by_hand.delete(id);
  };

  /** The last two parents of a child end, and two processes hear of one each. */
  const endAtOnce = async () => {
    await passAll();
    const [pair] = await sql<{ parents: string[] }[]>`
      SELECT json_agg(parent) AS parents FROM atlasqueue.flow_edges JOIN atlasqueue.jobs ON id = parent
      GROUP BY child HAVING count(*) = 2 AND bool_and(status = 'queued') ORDER BY child LIMIT 1`;
    if (!pair) return;
    for (const lease of await claim(deps, pair.parents, claimer)) await complete(deps, [{ lease, result: null }]);
    await overlapping(
      (within) => closeEdges(within, 1),
      () => closeEdges(deps, 1),
      true,
    );
  };

  const acts: ((state: State) => Promise<unknown>)[] = [
    (state) => settle(state, true),
    (state) => settle(state, true),
    (state) => settle(state, below(2) === 0),
    (state) => settle(state, below(2) === 0, false),
    cancelOne,
    retryOne,
    retryOne,
    () => Promise.all(Array.from({ length: 3 }, () => pick(passes)())),
    () =>
      overlapping(
        (within) => closeEdges(within, 1),
        () => closeEdges(deps, 1),
        true,
      ),
    () =>
      overlapping(
        (within) => closeEdges(within, 1),
        () => pick(passes)(),
        below(3) > 0,
      ),
    () =>
      overlapping(
        (within) => releaseChildren(within, 2),
        () => pick(passes)(),
        below(3) > 0,
      ),
    endAtOnce,
    passAll,
  ];
  for (let at = 0; at < acts_max; at += 1) await pick(acts)(await look());

  // Then whatever is ready runs, until nothing is.
  for (let ready = true; ready;) {
    await passAll();
    const state = await look();
    ready = [...state.values()].some(({ status }) => status === "queued" || status === "running");
    if (ready) await settle(state, true);
  }
  const state = await look();
  for (const [id, { status }] of state) {
    if (started.has(id)) {
      if (!isFinal(status)) throw new Error(`${id} is ${status} for ever`);
      continue;
    }
    const parents = (parentsOf.get(id) ?? []).filter((parent) => !mayStart(state, id, parent));
    const failed = parents.some(
      ({ id: parent, policy }) =>
        policy === "cancel" && ["dead", "cancelled"].includes(state.get(parent)?.status ?? ""),
    );
    const expected = cancelled_by_hand.has(id) || failed ? "cancelled" : "blocked";
    if (status !== expected) throw new Error(`${id} is ${status}, and should be ${expected}`);
    // Whether a parent that ran once is waited for again depends on who was faster.
    const perhaps = (parentsOf.get(id) ?? []).some(({ id: parent }) => !isFinal(state.get(parent)?.status ?? "dead"));
    if (expected === "blocked" && parents.length === 0 && !perhaps)
      throw new Error(`${id} is stranded: all its parents ended`);
  }
}

const undone = Symbol("rolled back");

/** Statements that have the text get the other one in its place. A transaction within one is a part of it. */
function mutated(database: Database, { replaces: [text, other] = ["", ""] }: Mutant): Database {
  const within = (sql: Sql): Sql => {
    const unsafe: Sql["unsafe"] = (statement, ...rest) => sql.unsafe(statement.replace(text, other), ...rest);
    const begin = async (how: string, work: (tx: Sql) => unknown) =>
      "begin" in sql ? sql.begin(how, (tx) => work(within(tx as unknown as Sql))) : work(within(sql));
    return new Proxy(sql, {
      get: (of, name) => (name === "unsafe" ? unsafe : name === "begin" ? begin : Reflect.get(of, name)),
    });
  };
  return { ...database, sql: within(database.sql) };
}
