import { idleTxTimeout } from "../database/transaction.ts";

/**
 * Parts of a WITH that give jobs their places in their groups. `members` is a query for (id, tenant, queue, group_key,
 * place), where `place` is their order in the statement. Each group's row is locked until the commit, in the same order
 * in all processes, so that places are given in commit order. `seated` then has a row for each: its `seq`, whether it
 * `may_run` or must wait, and whether the group `is_strict`: one at a time.
 *
 * What is known of the group comes from its row as the lock finds it. A sub-select on the jobs would not do: it sees
 * them as they were before the wait for the lock.
 *
 * Jobs that were committed before and still wait for their places in the group come first: where the outbox has one, those
 * of the statement wait there as well, with place 0. So do all of them when the condition `postponed` holds: then no group's
 * row is locked.
 */
export const joinGroups = (members: string, postponed?: string) => `
  candidates AS MATERIALIZED (${members}), postponed AS MATERIALIZED (
    SELECT * FROM candidates WHERE ${postponed ? `${postponed} OR ` : ""}(
      SELECT true FROM atlasqueue.outbox WHERE outbox.tenant = candidates.tenant AND lane = ${groupLane("candidates")} LIMIT 1)
  ), admissions AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    SELECT 'admit', tenant, id::text, ${groupLane("postponed")}, '{"counted": true}' FROM postponed ORDER BY place
  ), ${seatMembers("SELECT * FROM candidates WHERE id NOT IN (SELECT id FROM postponed)")}, seated AS MATERIALIZED (
    SELECT id, seq, may_run, is_strict FROM seats_taken UNION ALL SELECT id, 0, false, false FROM postponed
  )`;

/** The same for jobs that have waited in the outbox: `seats_taken` has a row for each. */
export const seatMembers = (members: string) => `
  members AS MATERIALIZED (${members}), joined AS (
    INSERT INTO atlasqueue.job_groups AS known (tenant, queue, group_key, last_seq, admitted, heads)
    SELECT members.tenant, members.queue, group_key, count(*), least(count(*), ${slotsOf("members")}),
           (array_agg(id ORDER BY place))[1 : ${slotsOf("members")}]
    FROM members GROUP BY members.tenant, members.queue, group_key ORDER BY ${groupOrder("members")}
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET
      last_seq = known.last_seq + excluded.last_seq,
      admitted = least(excluded.last_seq, ${roomOf("known")}),
      heads = known.heads || excluded.heads[1 : ${roomOf("known")}]
    RETURNING tenant, queue, group_key, last_seq, admitted
  ), seats_taken AS MATERIALIZED (
    SELECT id, last_seq - count(*) OVER same_group + row_number() OVER (same_group ORDER BY place) AS seq,
           row_number() OVER (same_group ORDER BY place) <= admitted AS may_run, ${slotsOf("members")} = 1 AS is_strict
    FROM members JOIN joined USING (tenant, queue, group_key)
    WINDOW same_group AS (PARTITION BY tenant, queue, group_key)
  )`;

/** How many of those added may run at once: none where others wait that may run, as these come first. */
const roomOf = (row: string) =>
  `CASE WHEN ${row}.overdue_at IS NULL THEN greatest(0, ${slotsOf(row)} - cardinality(${row}.heads)) ELSE 0 END`;

/** The lane of the outbox in which jobs wait for their places in a group, for rows with a queue and a group_key. */
export const groupLane = (row: string) => `'group ' || ${row}.queue || E'\\n' || ${row}.group_key`;

/** The order in which all statements lock groups' rows. With an explicit collation: a parameter has none of its own. */
export const groupOrder = (row: string) =>
  ["tenant", "queue", "group_key"].map((column) => `${row}.${column} COLLATE "C"`).join(", ");

/** As many of a group are let through at once where more might run, as each end of a job goes through all of them. */
const slots_max = 10_000;

/** The same group, for two rows with a tenant, a queue and a group_key. */
export const sameGroup = (one: string, other: string) =>
  ["tenant", "queue", "group_key"].map((column) => `${one}.${column} = ${other}.${column}`).join(" AND ");

/** The jobs that wait in a group, in their order, for rows with a tenant, a queue and a group_key. */
export const waitingIn = (row: string, columns: string, jobs_max: string) => `
      SELECT ${columns} FROM atlasqueue.jobs WHERE ${sameGroup("jobs", row)} AND group_seq > 0 ORDER BY group_seq LIMIT ${jobs_max}`;

/** A condition on rows of jobs: the row of their group is locked now, without waiting, as no other transaction has it locked. */
export const groupIsFree = (row: string) => `EXISTS (
      SELECT FROM atlasqueue.job_groups AS one WHERE ${sameGroup("one", row)} AND ${idleTxTimeout} FOR UPDATE SKIP LOCKED)`;

/** How many jobs of a group may run at once, for rows with a tenant and a queue. */
export const slotsOf = (row: string) => `least(${slots_max}, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = ${row}.tenant AND queues.queue = ${row}.queue), 1))`;

/** The one job of a group that has its turn, where only one may run, for rows with a tenant, a queue and a group_key. */
export const holderOf = (row: string) => `
      SELECT held.id FROM atlasqueue.jobs AS held
      WHERE held.tenant = ${row}.tenant AND held.queue = ${row}.queue AND held.active_group_key = ${row}.group_key`;
