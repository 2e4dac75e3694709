import { jobStatuses } from "@atlasqueue/contract";
import { expect } from "vitest";
import { runningIn } from "./rates.ts";
import { tenant, type Real } from "./real.ts";
import { inOrder, type Model } from "./state.ts";
import { unclaimed } from "./upkeep.ts";

/** Everything that both sides know, with the model's numbers for ids, and times in seconds from now. */
type Known = Record<string, unknown>;

const from = (now: number) => (at: number | null | undefined) =>
  at === null || at === undefined ? null : Math.round(at - now) / 1_000;
const sorted = <T>(all: Iterable<T>) => [...all].map((one) => JSON.stringify(one)).toSorted();

/** Throws when the tables are not what the model says. */
export async function compare(model: Model, real: Real): Promise<void> {
  expect(await readReal(model, real)).toEqual(readModel(model));
  expect(unclaimed(model), "running jobs without exactly one claim").toEqual([]);
}

function readModel(model: Model): Known {
  const ago = from(model.now);
  const counted = inOrder(model.jobs.values()).map(({ queue, status }) => `${queue} ${status}`);
  return {
    jobs: inOrder(model.jobs.values()).map(
      ({ token, flow, active_group_key, group, has_steps, has_children, ...job }) => ({
        ...job,
        group,
        active_group_key: active_group_key ? group : null,
        in_flow: flow !== null,
        has_steps,
        has_children,
        token,
        run_at: ago(job.run_at),
        ready_at: ago(job.ready_at),
        due_at: ago(job.due_at),
        expires_at: ago(job.expires_at),
        dead_at: ago(job.dead_at),
        finished_at: ago(job.finished_at),
        kept_until: ago(job.kept_until),
        locked_until: ago(job.locked_until),
      }),
    ),
    groups: sorted([...model.groups].map(([name, { last_seq, heads }]) => [name, last_seq, heads.toSorted()])),
    overdue: sorted(model.overdue),
    claims: sorted(
      [...model.claims].map(([token, { check_at, jobs, worker }]) => [token, ago(check_at), jobs.toSorted(), worker]),
    ),
    starts: sorted(
      [...model.starts].flatMap(([name, starts]) => [...starts].map(([at, count]) => [name, ago(at), count])),
    ),
    turns: sorted([
      ...[...model.groups].map(([name, { last_started }]) => [name, ago(last_started)]),
      ...[...model.ungrouped_started].map(([queue, at]) => [queue, ago(at)]),
    ]),
    unique: sorted([...model.unique].map(([name, { job, ends_at }]) => [name, job, ago(ends_at)])),
    keys: sorted([...model.keys].map(([key, { job, expires_at, noted }]) => [key, job, ago(expires_at), noted])),
    admissions: sorted(model.admissions.map(({ job }) => job).filter((job) => model.jobs.has(job))),
    edges: sorted(model.edges.map(({ parent, child, policy, failed }) => [parent, child, policy, failed])),
    notes: sorted([
      ...[...model.notes.parent].map((n) => [n, "parent"]),
      ...[...model.notes.child].map((n) => [n, "child"]),
    ]),
    signals: sorted(model.signals),
    waits: sorted([...model.waits].map(([wait, until]) => [wait, ago(until)])),
    counts: sorted([...Map.groupBy(counted, (name) => name)].map(([name, all]) => [name, all.length])),
    room: sorted(
      [...model.queues].flatMap(([queue, { concurrency }]) =>
        concurrency === null ? [] : [[queue, concurrency, runningIn(model, queue)]],
      ),
    ),
  };
}

type JobOfTable = Record<string, number | string | boolean | null> & { id: string; lease_token: string | null };

async function readReal(model: Model, real: Real): Promise<Known> {
  const [row] = await real.sql.unsafe<{ all: Record<string, never[]> }[]>(readAll);
  const found = row?.all as unknown as {
    jobs: JobOfTable[] | null;
    [table: string]: (string | number | boolean | null | string[])[][] | JobOfTable[] | null;
  };
  const ago = from(model.now);
  const numbers = new Map(real.ids.map((id, n) => [id, n]));
  const claims = new Map([...real.tokens].map(([n, token]) => [token, n]));
  const n = (id: unknown) => numbers.get(String(id)) ?? `the unknown job ${String(id)}`;
  const claimOf = (token: unknown) =>
    token === null ? null : (claims.get(String(token)) ?? `unknown ${String(token)}`);
  const rows = (table: string) => (found[table] ?? []) as (string | number | boolean | null | string[])[][];
  const at = (value: unknown) => ago(value as number | null);
  return {
    jobs: (found.jobs ?? []).map(({ id, lease_token, ...job }) => ({
      ...job,
      n: n(id),
      token: claimOf(lease_token),
      run_at: at(job["run_at"]),
      ready_at: at(job["ready_at"]),
      due_at: at(job["due_at"]),
      expires_at: at(job["expires_at"]),
      dead_at: at(job["dead_at"]),
      finished_at: at(job["finished_at"]),
      kept_until: at(job["kept_until"]),
      locked_until: at(job["locked_until"]),
    })),
    groups: sorted(
      rows("groups").map(([name, last_seq, heads]) => [name, last_seq, (heads as string[]).map(n).toSorted()]),
    ),
    overdue: sorted(rows("overdue").map(([name]) => name)),
    claims: sorted(
      rows("claims").map(([token, check_at, jobs, worker]) => [
        claimOf(token),
        at(check_at),
        ((jobs as string[] | null) ?? []).map(n).toSorted(),
        worker,
      ]),
    ),
    starts: sorted(rows("starts").map(([name, started_at, count]) => [name, at(started_at), count])),
    turns: sorted(rows("turns").map(([name, started_at]) => [name, at(started_at)])),
    unique: sorted(rows("unique").map(([name, id, ends_at]) => [name, n(id), at(ends_at)])),
    keys: sorted(rows("keys").map(([key, id, expires_at, noted]) => [key, n(id), at(expires_at), noted])),
    admissions: sorted(rows("admissions").map(([id]) => n(id))),
    edges: sorted(rows("edges").map(([parent, child, policy, failed]) => [n(parent), n(child), policy, failed])),
    notes: sorted(rows("notes").map(([id, role]) => [n(id), role])),
    signals: sorted(rows("signals").map(([id, name]) => `${n(id)} ${String(name)}`)),
    waits: sorted(rows("waits").map(([id, name, until]) => [`${n(id)} ${String(name)}`, at(until)])),
    counts: sorted(rows("counts").map(([name, count]) => [name, count])),
    room: sorted(rows("room")),
  };
}

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::float8`;
const list = (columns: string, of: string) => `(SELECT json_agg(json_build_array(${columns})) FROM ${of})`;
const perStatus = jobStatuses.map((status) => `('${status}', ${status})`).join(", ");

const readAll = `
  WITH known AS (
    SELECT queue, of.status, sum(of.jobs)::int AS jobs
    FROM (SELECT queue, ${jobStatuses.join(", ")} FROM atlasqueue.queue_counts UNION ALL SELECT queue, ${jobStatuses.join(", ")} FROM atlasqueue.queue_changes) AS kept,
         LATERAL (VALUES ${perStatus}) AS of(status, jobs) GROUP BY queue, of.status
  )
  SELECT json_build_object(
    'jobs', (SELECT json_agg(one ORDER BY id) FROM (
      SELECT id, queue, group_key AS group, priority, status, attempts, max_attempts, ${ms("run_at")} AS run_at, ${ms("ready_at")} AS ready_at,
             ${ms("due_at")} AS due_at, ${ms("expires_at")} AS expires_at, ${ms("dead_at")} AS dead_at, ${ms("finished_at")} AS finished_at, ${ms("kept_until")} AS kept_until,
             group_seq, active_group_key, lease_token, ${ms("locked_until")} AS locked_until, waits_for, coalesce(has_steps, false) AS has_steps,
             coalesce(has_children, false) AS has_children, flow_id IS NOT NULL AS in_flow,
             coalesce((SELECT cancelled_by IS NOT NULL FROM atlasqueue.flow_jobs WHERE job_id = jobs.id), false) AS cancelled_by_parent
      FROM atlasqueue.jobs WHERE tenant = '${tenant}') AS one),
    'groups', ${list("queue || '/' || group_key, last_seq, heads", "atlasqueue.job_groups")},
    'turns', ${list(
      `name, ${ms("at")}`,
      `(
      SELECT queue || '/' || group_key AS name, last_started_at AS at FROM atlasqueue.job_groups
      UNION ALL SELECT queue, ungrouped_started_at FROM atlasqueue.queues WHERE ungrouped_started_at IS NOT NULL) AS started`,
    )},
    'overdue', ${list("queue || '/' || group_key", "atlasqueue.job_groups WHERE overdue_at IS NOT NULL")},
    'claims', ${list(`token, ${ms("check_at")}, job_ids, worker_id`, "atlasqueue.claims")},
    'starts', ${list(
      "name, at, count",
      `(
      SELECT concat_ws('/', queue, group_key) AS name, ${ms("started_at")} AS at, sum(count)::int AS count
      FROM atlasqueue.queue_starts GROUP BY 1, 2) AS summed`,
    )},
    'unique', ${list(`queue || '/' || substr(unique_key, 5), id, ${ms("unique_until")}`, "atlasqueue.jobs WHERE unique_key IS NOT NULL")},
    'keys', ${list(`key, job_id, ${ms("expires_at")}, coalesce(is_alias, false)`, "atlasqueue.idempotency_keys")},
    'admissions', ${list("key", "(SELECT key FROM atlasqueue.outbox WHERE kind = 'admit' AND key::uuid IN (SELECT id FROM atlasqueue.jobs)) AS pending")},
    'edges', ${list("parent, child, on_parent_failure, failed", "atlasqueue.flow_edges")},
    'notes', ${list("job_id, role", "(SELECT DISTINCT key AS job_id, CASE kind WHEN 'parent_ended' THEN 'parent' ELSE 'child' END AS role FROM atlasqueue.outbox WHERE kind IN ('parent_ended', 'recheck_child')) AS noted")},
    'signals', ${list("job_id, name", "atlasqueue.job_state WHERE kind = 'signal'")},
    'waits', ${list(`job_id, name, ${ms("until")}`, "atlasqueue.job_state WHERE kind = 'wait'")},
    'counts', ${list("queue || ' ' || status, jobs", "known WHERE jobs <> 0")},
    'room', (SELECT json_agg(json_build_array(queue, concurrency, (
        SELECT count(*) FROM atlasqueue.jobs WHERE jobs.queue = queues.queue AND status = 'running'))) FROM atlasqueue.queues WHERE concurrency IS NOT NULL)
  ) AS all`;
