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

export async function readPlace([home]: Cells, tenant: string): Promise<Place> {
  const text = "SELECT coalesce(cell, $2) AS cell, moving_to FROM atlasqueue.tenants WHERE tenant = $1";
  const [place] = await executeOn(home.database)<Place>({ text, params: [tenant, home.name] });
  return place ?? { cell: home.name, moving_to: null };
}

export async function writePlace([home]: Cells, tenant: string, { cell, moving_to }: Place): Promise<void> {
  const text = `
    INSERT INTO atlasqueue.tenants (tenant, cell, moving_to) VALUES ($1, nullif($2, $4), nullif($3, ''))
    ON CONFLICT (tenant) DO UPDATE SET cell = excluded.cell, moving_to = excluded.moving_to`;
  await executeOn(home.database)({ text, params: [tenant, cell, moving_to ?? "", home.name] });
}
