import { composed } from "../database/composed.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pageParameters, pageParams, type DeadPage, type DeadPlace } from "./pages.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { startAnew } from "../jobs/start-anew.ts";
import { reachedFrom, takeDead } from "./take.ts";

/** What one transaction of a replay let start anew: `ready` are to be signalled, `ids` are no dead letters any more. */
export type Revived = { ids: string[]; ready: ReadyJob[] };
/** Called after each commit, whatever becomes of the next transaction. */
export type OnRevived = (revived: Revived) => Promise<void>;

/** Rows locked at once: 20 ms, so that nothing waits for a replay of a hundred thousand. */
export const replay_rows_max = 500;

/**
 * dead → queued (or blocked, in a group), now and as if they were new: one step over dead letters, longest dead first.
 * Locked ones are found and skipped, as are those whose group is locked: a later call finds them again. Returns how many
 * matched, and where the next step continues.
 *
 * @example
 * const { reached } = await replay(deps, page, async ({ ready }) => void (await announce(deps, ready)));
 */
export async function replay(
  deps: Deps,
  page: DeadPage,
  onRevived: OnRevived,
): Promise<{ found: number; reached: DeadPlace | null }> {
  const execute = executeOn(deps.database);
  const { found, reached, absent, ...first } = await replayStep(execute, page, "present");
  await tellRevived(deps, page, first, onRevived);
  if (absent.length > 0) {
    const { ids, ready } = await replayStep(execute, pageOfIds(page, absent), "absent");
    await tellRevived(deps, page, { ids, ready }, onRevived);
  }
  return { found, reached };
}

/** Reported when it is committed. */
export async function tellRevived(
  { observe }: Deps,
  { tenant }: { tenant: string },
  revived: Revived,
  onRevived: OnRevived,
): Promise<void> {
  if (revived.ids.length === 0) return;
  observe({ event: "jobs_replayed", tenant, count: revived.ids.length });
  await onRevived(revived);
}

type Row = {
  found: number;
  reached: DeadPlace | null;
  absent: string[] | null;
  jobs: (ReadyJob & { status: "queued" | "blocked" })[] | null;
};

/** The same filter's dead letters with these ids alone. */
export function pageOfIds({ tenant, until_us }: DeadPage, ids: readonly string[]): DeadPage {
  return { kind: "ids", tenant, ids, rest: [], until_us };
}

/**
 * One statement of a replay, of at most `rows_max` jobs. `found` is how many matched, `absent` are those whose groups have no row, which need a
 * statement, and a transaction, of their own.
 */
export async function replayStep(
  execute: Execute,
  page: DeadPage,
  groups: Groups,
  rows_max = replay_rows_max,
): Promise<Revived & { found: number; reached: DeadPlace | null; absent: string[] }> {
  const params = [...pageParams(page), rows_max];
  const [row] = await execute<Row>({ text: texts[page.kind][groups], params });
  const jobs = row?.jobs ?? [];
  return {
    found: row?.found ?? 0,
    reached: row?.reached ?? null,
    absent: row?.absent ?? [],
    ids: jobs.map(({ id }) => id),
    ready: jobs.filter(({ status }) => status === "queued"),
  };
}

/**
 * Groups that have a row are locked first, if they are free: nothing is waited for. Groups without a row get one in a
 * separate statement, in the order that all statements use to create them: it holds no other group, so that no two
 * statements can each hold a group and wait for the other's.
 */
type Groups = "present" | "absent";

const rowOf = (row: string) => `
      FROM job_groups AS known
      WHERE known.tenant = ${row}.tenant AND known.queue = ${row}.queue AND known.group_key = ${row}.group_key`;
const hasNone = `(SELECT true ${rowOf("jobs")}) IS NULL`;
const ofPage = "FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND group_key IS NOT NULL";
const choices: Record<Groups, { before: string; only: string }> = {
  present: {
    before: `free_groups AS MATERIALIZED (
    SELECT free.* FROM (SELECT DISTINCT tenant, queue, group_key ${ofPage}) AS named CROSS JOIN LATERAL (
      SELECT tenant, queue, group_key ${rowOf("named")} FOR UPDATE SKIP LOCKED) AS free
  ),`,
    only: "(group_key IS NULL OR (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM free_groups))",
  },
  absent: { before: "", only: `group_key IS NOT NULL AND ${hasNone}` },
};

/** The parameter after the page's own. */
const rowsMaxOf = (kind: DeadPage["kind"]) => `$${pageParameters[kind].length + 1}::int`;

const textOf = (kind: DeadPage["kind"], groups: Groups) => `
  WITH ${takeDead(kind, rowsMaxOf(kind), choices[groups])},
       ${startAnew("taken", "jobs.id, jobs.tenant, jobs.queue, jobs.priority, jobs.status")}
  SELECT ${reachedFrom(kind, rowsMaxOf(kind))}, (SELECT json_agg(id) ${ofPage} AND ${hasNone}) AS absent, (
    SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status)
                    ORDER BY id) FROM queued) AS jobs`;
const textsOf = (kind: DeadPage["kind"]) => {
  const name = `dead-letters/replay-${kind === "ids" ? "ids" : "page"}`;
  const parameters = [...pageParameters[kind], "rows_max"];
  return {
    present: composed(name, parameters, textOf(kind, "present")),
    absent: composed(`${name}-absent`, parameters, textOf(kind, "absent")),
  };
};
const texts = { ids: textsOf("ids"), walk: textsOf("walk") };
