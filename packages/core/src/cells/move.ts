import { executeOn } from "../database/statement.ts";
import { rebuildDeadLetterList } from "../dead-letters/rebuild-list.ts";
import { hint } from "../signal/announce.ts";
import { CellError, cellNamed, readPlace, writePlace, type Cell, type Cells } from "./cell.ts";
import { clear, type Cleared } from "./clear.ts";
import { copyRows } from "./copy.ts";
import { holdUntilStill, lockOf, release, type Patience } from "./hold.ts";

/** What has been done. After each of them a move may be interrupted: it then goes on, or back. */
export type MoveStep = "refused" | "still" | "copied" | "switched" | "cleared" | "released" | "done";

export type MoveOptions = Partial<Patience> & { onStep?: (step: MoveStep) => void | Promise<void> };

/** In `moving_to`, between the cell that has the tenant's rows now and the one that it has left. */
const from = ", from ";
/** An API keeps the map for 2 s, and a request has 10 s. */
const patience: Patience = { quiet_ms: 12_000, running_ms_max: 120_000 };

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
    const place = await readPlace(cells, tenant);
    const here = cellNamed(cells, place.cell);
    const { onStep = () => {} } = options;
    const move: Move = { cells, tenant, options: { ...patience, ...options }, onStep };
    const [, left] = place.moving_to?.split(from) ?? [];
    if (left !== undefined) {
      const cleared = await finish(move, cellNamed(cells, left), here);
      return here === wanted ? cleared : goThere(move, here, wanted);
    }
    if (here !== wanted) {
      if (place.moving_to !== null && place.moving_to !== name)
        throw new CellError(
          `the tenant ${tenant} is moving from ${place.cell} to ${place.moving_to}: move it to one of these first`,
        );
      return goThere(move, here, wanted);
    }
    if (place.moving_to !== null) return goBack(move, here, cellNamed(cells, place.moving_to));
    const total = { collected: 0, left: 0 };
    for (const cell of cells.filter((one) => one !== here)) {
      const { collected, left } = await clear(cell, tenant, here);
      total.collected += collected;
      total.left += left;
    }
    return total;
  });
}

type Move = { cells: Cells; tenant: string; options: Patience; onStep: NonNullable<MoveOptions["onStep"]> };

async function goThere(move: Move, source: Cell, target: Cell): Promise<Cleared> {
  const { cells, tenant, options, onStep } = move;
  await writePlace(cells, tenant, { cell: source.name, moving_to: target.name });
  await onStep("refused");
  try {
    await holdUntilStill(source, tenant, options);
    // An earlier try's copy, or what was left from an earlier stay.
    const { left } = await clear(target, tenant, source);
    if (left > 0)
      throw new CellError(`${target.name} has ${left} jobs of the tenant ${tenant} under way: wait until they end`);
  } catch (error) {
    if (error instanceof CellError) await goBack(move, source, target);
    throw error;
  }
  await onStep("still");
  await copyRows(source, target, tenant);
  await onStep("copied");
  await writePlace(cells, tenant, { cell: target.name, moving_to: target.name + from + source.name });
  await onStep("switched");
  return finish(move, source, target);
}

/** The target's rows are the true ones. Nothing starts there before the source has none that it does not have. */
async function finish({ cells, tenant, onStep }: Move, source: Cell, target: Cell): Promise<Cleared> {
  const cleared = await clear(source, tenant, target);
  await onStep("cleared");
  await release(target, tenant);
  await hint(
    () => {},
    "move",
    () => relist(target),
  );
  await onStep("released");
  await writePlace(cells, tenant, { cell: target.name, moving_to: null });
  await onStep("done");
  return cleared;
}

/** The source's rows are the true ones. */
async function goBack({ cells, tenant, onStep }: Move, source: Cell, target: Cell): Promise<Cleared> {
  const cleared = await clear(target, tenant, source);
  await onStep("cleared");
  await release(source, tenant);
  await onStep("released");
  await writePlace(cells, tenant, { cell: source.name, moving_to: null });
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
    const [row] = await sql<{ mine: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${lockOf(tenant)}, 0)) AS mine`;
    return row?.mine ? { result: await work() } : undefined;
  });
  if (done) return done.result as T;
  throw new CellError(`another move of the tenant ${tenant} is under way`);
}
