import { firstId } from "../ids.ts";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { Signal } from "../signal/signal.ts";
import { isUuid, unindexed, uuidArray } from "../database/literals.ts";

const page_max = 1_000;
const pages_max = 20;
/** Transactions commit in a different order from their `now()`; none lasts longer than this. */
const overlap_ms = 60_000;

/**
 * Make the Redis list match `status = 'dead'`. Continues where the last call stopped, with an overlap for transactions
 * that committed late; starts over when Redis was flushed or its keys were edited by hand, or when asked to; takes out what
 * is no longer dead, a part of the list at each call (`round` chooses which). Workers also add their own dead jobs at once,
 * so this is for repair, not the main path.
 */
export async function rebuildDeadLetterList(
  deps: Deps & { signal: Signal },
  round: number,
  from_start = false,
): Promise<{ caught_up: boolean }> {
  const { deadLetters } = deps.signal;
  const list = await deadLetters.look();
  const is_whole = list.consistent && (list.cursor === undefined || isCursor.test(list.cursor));
  if (!is_whole) await deadLetters.clear();
  const { added, caught_up } = await addSince(deps, is_whole ? list.cursor : undefined, from_start);
  const removed = await removeRevived(deps, list.length + added, round);
  if (added + removed > 0) deps.observe({ event: "dead_letters_projected", added, removed });
  return { caught_up };
}

/**
 * The cursor is "time id" of the last job added, the time as Postgres writes it: JavaScript's would lose microseconds.
 * While there is more to come it ends in "more": going back by the overlap before reaching the end would read the same
 * pages forever. It moves with what it stands for, and only from where we found it: otherwise a list that was flushed
 * meanwhile, or another server's, would count as filled up to there.
 */
async function addSince(deps: Deps & { signal: Signal }, found: string | undefined, from_start: boolean) {
  const execute = executeOn(deps.database);
  let cursor = found;
  let [time = "-infinity", id = firstId, more] = (from_start ? undefined : cursor)?.split(" ") ?? [];
  let overlap_seconds = more === "more" ? 0 : overlap_ms / 1_000;
  let added = 0;
  for (let page = 0; page < pages_max; page += 1) {
    const may_be_ahead = String(page === 0 && more !== "more");
    const params = [time, overlap_seconds, id, may_be_ahead];
    const rows: readonly Died[] = await execute<Died>({ text: diedSince, params });
    const last = rows.at(-1);
    const caught_up = rows.length < page_max;
    if (last) {
      [time, id, overlap_seconds] = [last.time, last.id, 0];
      const reached = caught_up ? `${last.reached} ${id}` : `${time} ${id} more`;
      const ids = rows.map((row) => row.id);
      const more_added = await deps.signal.deadLetters.carryOn(ids, cursor, reached);
      if (more_added === "elsewhere") return { added, caught_up: false };
      added += more_added;
      cursor = reached;
    }
    if (caught_up) return { added, caught_up };
  }
  return { added, caught_up: false };
}

/** `reached` is its time, or that of the statement if the clock was set back to before it. */
type Died = { id: string; time: string; reached: string };

const shown = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
// What died since a clock was set back is behind a cursor of before: a cursor that is ahead of the clock starts over.

const diedSince = composed(
  "dead-letters/died-since",
  ["time", "overlap_seconds", "id", "may_be_ahead"],
  `
  SELECT id, ${shown("dead_at")} AS time, ${shown("least(dead_at, now())")} AS reached FROM atlasqueue.jobs
  WHERE dead_at IS NOT NULL AND (dead_at, id) > (
    CASE WHEN $4::text::boolean AND $1::text::timestamptz > now() THEN '-infinity'
         ELSE $1::text::timestamptz - make_interval(secs => $2::float8) END, $3::text::uuid)
  ORDER BY dead_at, id LIMIT ${page_max}`,
);

const isCursor = /^([-\d]{10,}T[\d:.]+Z) [-\da-f]{36}( more)?$/;
/** Goes over one page, and over it again, with what moved up into it, while there is something to take out. */
async function removeRevived(deps: Deps & { signal: Signal }, length: number, round: number): Promise<number> {
  const { deadLetters } = deps.signal;
  const pages = Math.ceil(length / page_max);
  let total = 0;
  for (let again = 0; pages > 0 && again < pages_max; again += 1) {
    const ids = await deadLetters.page((round % pages) * page_max, page_max);
    const dead = await deadAmong(deps, ids);
    const removed = await deadLetters.remove(ids.filter((id) => !dead.has(id)));
    total += removed;
    if (removed === 0) break;
  }
  return total;
}

/** Those of the ids that belong to dead jobs now, of any tenant: for the list in Redis, which has all. */
export async function deadAmong(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<Set<string>> {
  const params = [uuidArray(ids.filter(isUuid))];
  const rows = await executeOn(deps.database)<{ id: string }>({ text, params });
  return new Set(rows.map(({ id }) => id));
}

const text = composed(
  "dead-letters/among",
  ["ids"],
  `SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND ${unindexed("dead_at")} IS NOT NULL`,
);
