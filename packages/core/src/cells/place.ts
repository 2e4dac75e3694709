import { countJobs } from "../counts/total.ts";
import { executeOn } from "../database/statement.ts";
import { CellError, cellNamed, readPlace, writePlace, type Cell, type Cells } from "./cell.ts";

/** A tenant of the map, in the cell that has its jobs. */
export type Placed = { tenant: string; cell: string; moving_to: string | null };

/** All tenants, by name. In the home cell those are among them that were never placed. */
export async function listPlaced([home]: Cells): Promise<Placed[]> {
  const text = `
    SELECT tenant, coalesce(cell, $1) AS cell, moving_to FROM (
      SELECT tenant FROM atlasqueue.tenants UNION SELECT tenant FROM atlasqueue.queue_counts
      UNION SELECT tenant FROM atlasqueue.queue_changes UNION SELECT tenant FROM atlasqueue.schedules
    ) AS known LEFT JOIN atlasqueue.tenants USING (tenant) ORDER BY tenant`;
  return [...(await executeOn(home.database)<Placed>({ text, params: [home.name] }))];
}

/** The cell with the fewest tenants, among some; the first of them if several have as few. */
export async function emptiest(cells: Cells, among: readonly Cell[] = cells): Promise<Cell> {
  const placed = await listPlaced(cells);
  const tenants = ({ name }: Cell) => placed.filter((one) => one.cell === name).length;
  const [first] = among.toSorted((a, b) => tenants(a) - tenants(b));
  if (!first) throw new CellError("there is no other cell");
  return first;
}

/**
 * Put a new tenant into a cell: the one named, or the emptiest. Throws `CellError` for a tenant that has jobs or schedules,
 * which is moved instead.
 *
 * @example
 * const { name } = await placeTenant([home, east], "acme");
 */
export async function placeTenant(cells: Cells, tenant: string, name?: string): Promise<Cell> {
  const cell = name === undefined ? await emptiest(cells) : cellNamed(cells, name);
  const place = await readPlace(cells, tenant);
  const { database } = cellNamed(cells, place.cell);
  const jobs = Object.values(await countJobs({ database }, tenant)).reduce((sum, count) => sum + count, 0);
  const [schedule] = await executeOn(database)({
    text: "SELECT name FROM atlasqueue.schedules WHERE tenant = $1 LIMIT 1",
    params: [tenant],
  });
  if (jobs > 0 || schedule || place.moving_to !== null)
    throw new CellError(`the tenant ${tenant} has jobs or schedules in ${place.cell}, or is moving: move it`);
  await writePlace(cells, tenant, { cell: cell.name, moving_to: null });
  return cell;
}
