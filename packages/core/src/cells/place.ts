import { countJobs } from "../counts/total.ts";
import type { Database } from "../database/connect.ts";
import { executeOn } from "../database/statement.ts";
import type { Signal } from "../signal/signal.ts";

/** A schema on a PostgreSQL server, and its Redis. `database` needs four connections, and a deadline of minutes. */
export type Cell = { name: string; database: Database; signal: Signal };

/** All cells; the first is home, which has the tenants and the map. */
export type Cells = readonly [Cell, ...Cell[]];

/** A move cannot begin, or go on, as things are: the message is for a person. */
export class CellError extends Error {
  override readonly name = "CellError";
}

/** Throws `CellError` for a name that no cell has. */
export function cellNamed(cells: Cells, name: string): Cell {
  const cell = cells.find((one) => one.name === name);
  if (cell) return cell;
  const names = cells.map((one) => one.name).join(", ");
  throw new CellError(`there is no cell ${JSON.stringify(name)}; the cells are ${names}`);
}

/**
 * Where a tenant's jobs are, and where they are moving to. Once they are there, `moving_to` also names the cell that they
 * have left, until nothing is left to do.
 */
export type Place = { cell: string; moving_to: string | null };

/** All tenants, by name. At home are those that were never placed. */
export async function listPlaces([home]: Cells, tenant = ""): Promise<(Place & { tenant: string })[]> {
  const text = `
    SELECT tenant, coalesce(cell, $1) AS cell, moving_to FROM (
      SELECT tenant FROM atlasqueue.tenants UNION SELECT tenant FROM atlasqueue.queue_counts
      UNION SELECT tenant FROM atlasqueue.queue_changes UNION SELECT tenant FROM atlasqueue.schedules
    ) AS known LEFT JOIN atlasqueue.tenants USING (tenant) WHERE $2 IN ('', tenant) ORDER BY tenant`;
  return [...(await executeOn(home.database)<Place & { tenant: string }>({ text, params: [home.name, tenant] }))];
}

export async function readPlace(cells: Cells, tenant: string): Promise<Place> {
  const [place] = await listPlaces(cells, tenant);
  return place ?? { cell: cells[0].name, moving_to: null };
}

export async function writePlace([home]: Cells, tenant: string, cell: Cell, moving_to = ""): Promise<void> {
  const text = `
    INSERT INTO atlasqueue.tenants (tenant, cell, moving_to) VALUES ($1, nullif($2, $4), nullif($3, ''))
    ON CONFLICT (tenant) DO UPDATE SET cell = excluded.cell, moving_to = excluded.moving_to`;
  await executeOn(home.database)({ text, params: [tenant, cell.name, moving_to, home.name] });
}

/** The cell with the fewest tenants, among some; the first of them if several have as few. */
export async function emptiest(cells: Cells, among: readonly Cell[] = cells): Promise<Cell> {
  const places = await listPlaces(cells);
  const tenants = ({ name }: Cell) => places.filter(({ cell }) => cell === name).length;
  const [first] = among.toSorted((a, b) => tenants(a) - tenants(b));
  if (!first) throw new CellError("there is no other cell");
  return first;
}

/**
 * Put a new tenant into a cell: the one named, or the emptiest. Throws `CellError` for a tenant that has jobs, or is moving.
 *
 * @example
 * const { name } = await placeTenant([home, east], "acme");
 */
export async function placeTenant(cells: Cells, tenant: string, name?: string): Promise<Cell> {
  const cell = name === undefined ? await emptiest(cells) : cellNamed(cells, name);
  const place = await readPlace(cells, tenant);
  const { database } = cellNamed(cells, place.cell);
  const execute = executeOn(database);
  const [schedule] = await execute({ text: "SELECT FROM atlasqueue.schedules WHERE tenant = $1", params: [tenant] });
  const jobs = Object.values(await countJobs({ database }, tenant));
  if (schedule || place.moving_to !== null || jobs.some((count) => count > 0))
    throw new CellError(`${tenant} has jobs or schedules in ${place.cell}, or is moving: move it instead`);
  await writePlace(cells, tenant, cell);
  return cell;
}
