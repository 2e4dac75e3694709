import { rebuildDeadLetterList } from "../dead-letters/rebuild-list.ts";
import { CellError, cellNamed, readPlace, writePlace, type Cell, type Cells } from "./place.ts";
import { clear, quietly, type Cleared } from "./clear.ts";
import { copyRows } from "./copy.ts";
import { holdUntilStill, lockOf, release, type Patience } from "./hold.ts";

/** What has been done. After each of them a move may be interrupted: it then goes on, or back. */
export type MoveStep = "idle" | "refused" | "still" | "copied" | "switched" | "cleared" | "released" | "done";

export type MoveOptions = Partial<Patience> & { onStep?: (step: MoveStep) => void | Promise<void> };

/** In `moving_to`, between the cell that has the tenant's rows now and the one that it has left. */
const from = ", from ";

/**
 * Move a tenant's jobs, and all that belongs to them, to another cell. Meanwhile APIs refuse the tenant with 503. If it was
 * interrupted, call it again to go on; or name the cell that the tenant is in to go back. If the tenant is there already, it
 * collects what callers have submitted in other cells since. Throws `CellError` if it cannot.
 *
 * @example
 * const { collected } = await moveTenant([home, east], "acme", "east");
 */
export async function moveTenant(
  cells: Cells,
  tenant: string,
  name: string,
  options: MoveOptions = {},
): Promise<Cleared> {
  const wanted = cellNamed(cells, name);
  return alone(cells, tenant, async () => {
    const { cell, moving_to } = await readPlace(cells, tenant);
    const here = cellNamed(cells, cell);
    // An API keeps the map for 2 s, and a request has 10 s.
    const move: Move = { cells, tenant, onStep: () => {}, quiet_ms: 12_000, running_ms_max: 120_000, ...options };
    const [, left] = moving_to?.split(from) ?? [];
    if (left !== undefined) {
      const cleared = await finish(move, cellNamed(cells, left), here);
      return here === wanted ? cleared : goThere(move, here, wanted);
    }
    if (moving_to !== null && ![cell, moving_to].includes(name))
      throw new CellError(`${tenant} is moving from ${cell} to ${moving_to}: move it to one of these first`);
    if (here !== wanted) return goThere(move, here, wanted);
    if (moving_to !== null) return finish(move, cellNamed(cells, moving_to), here);
    await release(here, tenant);
    const total = { collected: 0, left: 0 };
    for (const other of cells.filter((one) => one !== here)) {
      const cleared = await clear(other, tenant, here);
      total.collected += cleared.collected;
      total.left += cleared.left;
    }
    return total;
  });
}

type Move = Required<MoveOptions> & { cells: Cells; tenant: string };

async function goThere(move: Move, source: Cell, target: Cell): Promise<Cleared> {
  const { cells, tenant, onStep } = move;
  try {
    // Running jobs end while APIs still take their outcomes.
    await holdUntilStill(source, tenant, { ...move, quiet_ms: 0 });
    await onStep("idle");
    await writePlace(cells, tenant, source, target.name);
    await onStep("refused");
    await holdUntilStill(source, tenant, move);
    // An earlier try's copy, or what was left from an earlier stay.
    const { left } = await clear(target, tenant, source);
    if (left > 0) throw new CellError(`${target.name} has ${left} jobs of ${tenant} under way: wait until they end`);
  } catch (error) {
    if (error instanceof CellError) await finish(move, target, source);
    throw error;
  }
  await onStep("still");
  await copyRows(source, target, tenant);
  await onStep("copied");
  // From here on the target's rows are the true ones.
  await writePlace(cells, tenant, target, target.name + from + source.name);
  await onStep("switched");
  return finish(move, source, target);
}

/** Nothing starts where the tenant is before the cell that it leaves has no job that it lacks. */
async function finish({ cells, tenant, onStep }: Move, leaves: Cell, stays: Cell): Promise<Cleared> {
  const cleared = await clear(leaves, tenant, stays);
  await onStep("cleared");
  await release(stays, tenant);
  await quietly(() => relist(stays));
  await onStep("released");
  await writePlace(cells, tenant, stays);
  await onStep("done");
  return cleared;
}

/** Of 20,000 dead letters each. */
const pages_max = 1_000;

/** The dead letters that came are older than the newest of the list. */
async function relist({ database, signal }: Cell): Promise<void> {
  const deps = { database, signal, observe: () => {} };
  for (let page = 0; page < pages_max; page += 1)
    if ((await rebuildDeadLetterList(deps, 0, page === 0)).caught_up) return;
}

/** Two moves of a tenant at once would undo each other's work. */
async function alone<T>([home]: Cells, tenant: string, work: () => Promise<T>): Promise<T> {
  const done = await home.database.sql.begin(async (sql) => {
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const rows = await sql`SELECT WHERE pg_try_advisory_xact_lock(hashtextextended(${lockOf(tenant)}, 0))`;
    return rows.length > 0 ? { result: await work() } : undefined;
  });
  if (done) return done.result as T;
  throw new CellError(`another move of ${tenant} is under way`);
}
