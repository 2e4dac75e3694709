import { composed } from "../../database/composed.ts";
import type { ReplayPlace, ReplayRow } from "../../database/schema/index.ts";
import { executeOn, type Execute } from "../../database/statement.ts";
import { inTransaction, notHeldHalfSent, notHeldIdle } from "../../database/transaction.ts";
import type { Deps } from "../../deps.ts";
import { never_too_heavy } from "../../lease/payload-bytes.ts";
import { pageAt, type DeadPage, type DeadPlace } from "../pages.ts";
import { pageOfIds, replay_rows_max, replayStep, tellRevived, type OnRevived } from "../replay.ts";
import { lockSteps, readPatched, writePatched, type Patched } from "./patching.ts";
import { deadFilterOf } from "./rows.ts";

/** A page of payloads is read, patched and written: bounded as what a claim reads is. */
const patched_rows_max = never_too_heavy;
/** How long a replay rests whose page failed, so that the others have their turn. */
const rest_after_failure_seconds = 10;

/** Times a replay goes over its dead letters, as another transaction may hold some of them. */
const passes_max = 3;

/** Whose replay had the last page: the next is another tenant's, if one of theirs is due. */
export type ReplayTurn = { tenant: string };

/**
 * One page of a replay that is due, of the tenant whose turn it is, in one transaction: its row is locked, unless another process has it; the
 * jobs start anew; how far it came is noted. So a page is done once, whoever does it, and a process that dies in the
 * middle leaves the replay where it was. False when none is due. When a page fails, its replay rests for some seconds
 * and this rejects: the next call is for another one.
 *
 * @example
 * while (await stepReplay(deps, async ({ ready }) => void (await announce(deps, ready))));
 */
export async function stepReplay(
  deps: Deps,
  onRevived: OnRevived,
  turn: ReplayTurn = { tenant: "" },
): Promise<boolean> {
  const [due] = await executeOn(deps.database)<{ any_due: boolean }>({ text: look, params: [] });
  if (!due?.any_due) return false;
  let taken: ReplayRow | undefined;
  const work = inTransaction(deps.database, async (execute) => {
    [taken] = await execute<ReplayRow>({ text: take, params: [turn.tenant] });
    // Whatever becomes of the page.
    turn.tenant = taken?.tenant ?? turn.tenant;
    return taken && pageOfReplay(execute, taken);
  });
  const step = await work.catch(async (error: unknown) => {
    // The transaction is undone, and with it any note of its own.
    const resting = taken && executeOn(deps.database)({ text: rest, params: [taken.id, rest_after_failure_seconds] });
    // Where that fails too, the first error says more.
    await resting?.catch(() => {});
    throw error;
  });
  if (!step) return false;
  const { row, page, absent, patched, over } = step;
  if (over) deps.observe({ event: "replay_changed", change: "done", tenant: row.tenant, replay_id: row.id });
  await tellRevived(deps, row, step.revived, onRevived);
  if (absent.length > 0 && page) {
    // In a transaction of its own, as it must hold no other groups (see `replay`); one that dies here leaves them to the next pass.
    const more = await inTransaction(deps.database, async (execute) => {
      const [still] = await execute<{ id: string }>({ text: takeAgain, params: [row.id] });
      if (!still) return undefined;
      const { ids, ready } = await startAnew(execute, pageOfIds(page, absent), "absent", absent.length, patched);
      await execute({ text: noteMore, params: [row.id, ids.length] });
      return { ids, ready };
    });
    if (more) await tellRevived(deps, row, more, onRevived);
  }
  return true;
}

async function pageOfReplay(execute: Execute, row: ReplayRow) {
  const rows_max = Math.min(row.patch ? patched_rows_max : replay_rows_max, Math.ceil(row.rate ?? replay_rows_max));
  const filter = deadFilterOf(row.tenant, row.filter);
  const page = pageAt(filter, row.until_us, row.place, rows_max);
  const looked = page && row.patch ? await readPatched(execute, page, row, rows_max) : undefined;
  const patched = looked && new Map(looked.jobs.filter(({ fits }) => fits).map((job) => [job.id, job]));
  const wanted = page && patched ? pageOfIds(page, [...patched.keys()]) : page;
  const moved = wanted && (await startAnew(execute, wanted, "present", rows_max, patched));
  const { ids = [], ready = [], absent = [] } = moved ?? {};
  const found = looked?.found ?? moved?.found ?? 0;
  const reached = looked ? looked.reached : (moved?.reached ?? null);
  const place = nextPlace(row, page, reached, rows_max);
  const passed_over = row.passed_over + found - ids.length;
  // At the end of a pass, once more for what was held by others; what cannot be helped is left.
  const again = place === undefined && passed_over > 0 && row.passes + 1 < passes_max;
  const over = place === undefined && !again;
  const seconds = row.rate === null ? 0 : ids.length / row.rate;
  await execute({
    text: note,
    params: [
      row.id,
      over ? "done" : "running",
      JSON.stringify(place ?? { start: true }),
      ids.length,
      place === undefined ? 0 : passed_over,
      over ? passed_over : 0,
      again ? 1 : 0,
      again ? Math.max(1, seconds) : seconds,
    ],
  });
  return { row, page, absent, patched, over, revived: { ids, ready } };
}

type PatchedById = ReadonlyMap<string, Patched> | undefined;

/** Let dead letters start anew, with their patched payloads: no one sees them before the commit. */
async function startAnew(
  execute: Execute,
  page: DeadPage,
  groups: "present" | "absent",
  rows_max: number,
  patched: PatchedById,
) {
  const held = patched && page.kind === "ids" ? await lockSteps(execute, page.ids) : new Set();
  const free =
    page.kind === "ids"
      ? pageOfIds(
          page,
          page.ids.filter((id) => !held.has(id)),
        )
      : page;
  const moved = await replayStep(execute, free, groups, rows_max);
  await writePatched(
    execute,
    moved.ids.flatMap((id) => patched?.get(id) ?? []),
  );
  return moved;
}

function nextPlace(
  row: ReplayRow,
  page: DeadPage | undefined,
  reached: DeadPlace | null,
  rows_max: number,
): ReplayPlace | undefined {
  if (page?.kind !== "ids") return reached ?? undefined;
  const at = ("at" in row.place ? row.place.at : 0) + rows_max;
  return at < new Set(row.filter.ids).size ? { at } : undefined;
}

const look = `SELECT EXISTS (SELECT FROM dead_letter_replays WHERE state = 'running' AND next_at <= now()) AS any_due`;

// A tenant may have twenty of them; within one, the one that is due first.
const take = composed(
  "dead-letters/take-replay",
  ["tenant_after"],
  `
  SELECT * FROM dead_letter_replays WHERE state = 'running' AND next_at <= now() AND ${notHeldIdle} AND ${notHeldHalfSent(10_000)}
  ORDER BY tenant <= $1, tenant, next_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
);

const takeAgain = composed(
  "dead-letters/take-replay-again",
  ["id"],
  `
  SELECT id FROM dead_letter_replays WHERE id = $1::uuid AND state IN ('running', 'done') AND ${notHeldIdle} AND ${notHeldHalfSent(10_000)}
  FOR UPDATE SKIP LOCKED`,
);

// At most a second is made up for, should the pages have been late.
const note = composed(
  "dead-letters/note-replay",
  ["id", "state", "place", "replayed", "passed_over", "left_over", "passes", "seconds"],
  `
  UPDATE dead_letter_replays
  SET state = $2, place = $3::text::json, replayed = replayed + $4::int, passed_over = $5::int, left_over = $6::int,
      passes = passes + $7::int, updated_at = now(), finished_at = CASE WHEN $2 = 'done' THEN now() END,
      next_at = greatest(next_at, now() - interval '1 second') + make_interval(secs => $8::float8)
  WHERE id = $1::uuid`,
);

const rest = `
  UPDATE dead_letter_replays SET next_at = now() + make_interval(secs => $2::float8)
  WHERE id = $1::uuid AND state = 'running'`;

const noteMore = composed(
  "dead-letters/note-replay-more",
  ["id", "replayed"],
  `
  UPDATE dead_letter_replays
  SET replayed = replayed + $2::int, passed_over = greatest(0, passed_over - $2::int),
      left_over = greatest(0, left_over - $2::int), updated_at = now(),
      next_at = next_at + make_interval(secs => coalesce($2::int / rate, 0))
  WHERE id = $1::uuid`,
);
