import type { Database } from "../database/connect.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";

/** A tenant's cell cannot be used now: it is being moved, or this process does not know the cell. Nothing was done. */
export class CellUnavailableError extends Error {
  override readonly name = "CellUnavailableError";
}

type CellMap = {
  /**
   * The name of the cell that has the tenant's jobs. Rejects with `CellUnavailableError`, or as the home cell's database
   * does: a place that is not certain is none.
   */
  cellOf(tenant: string): Promise<string>;
};

type Place = { cell: string; moving_to: string | null };

/** How long a place counts, from before home was asked. A tenant that is marked as moving is refused everywhere after that. */
const map_kept_ms = 2_000;
const tenants_max = 10_000;
/** In one statement. */
const asked_max = 500;

/**
 * Which cell has which tenant, from the home cell's table of tenants; tenants without a cell there are at home, whose name
 * comes first in `names`. What was read counts for two seconds. Calls that come while a statement is under way share the
 * next one, so home is asked one thing at a time however many tenants call.
 *
 * @example
 * const map = createCellMap({ database: home, names: ["home", "b"] });
 * const cell = await map.cellOf("acme");
 */
export function createCellMap(
  { database, names }: { database: Database; names: readonly string[] },
  { kept_ms = map_kept_ms, now = () => performance.now() }: { kept_ms?: number; now?: () => number } = {},
): CellMap {
  const [home = ""] = names;
  // Oldest first, as each answer goes last.
  const known = new Map<string, Place & { until: number }>();
  let next: { tenants: Set<string>; read: Promise<Map<string, Place>> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const read = (tenants: ReadonlySet<string>) => async (): Promise<Map<string, Place>> => {
    // From here on, others go with the one after.
    if (next?.tenants === tenants) next = undefined;
    const until = now() + kept_ms;
    const rows = await executeOn(database)<Place & { tenant: string }>({ text, params: [textArray([...tenants])] });
    const found = new Map(rows.map((row) => [row.tenant, row]));
    const places = new Map<string, Place>();
    for (const tenant of tenants) {
      const { cell, moving_to } = found.get(tenant) ?? { cell: null, moving_to: null };
      const place = { cell: cell ?? home, moving_to };
      places.set(tenant, place);
      known.delete(tenant);
      known.set(tenant, { ...place, until });
      if (known.size > tenants_max) known.delete(known.keys().next().value ?? "");
    }
    return places;
  };
  const look = async (tenant: string): Promise<Place> => {
    if (next === undefined || next.tenants.size >= asked_max) {
      const tenants = new Set<string>();
      const reading = last.then(read(tenants));
      last = reading.catch(() => {});
      next = { tenants, read: reading };
    }
    next.tenants.add(tenant);
    return (await next.read).get(tenant) as Place;
  };

  return {
    async cellOf(tenant) {
      const kept = known.get(tenant);
      const { cell, moving_to } = kept && kept.until > now() ? kept : await look(tenant);
      if (moving_to !== null)
        throw new CellUnavailableError(
          `Tenant ${tenant} is being moved to cell ${moving_to}; try again in a few seconds`,
        );
      if (!names.includes(cell))
        throw new CellUnavailableError(
          `Tenant ${tenant} is in cell ${cell}, which this process does not know; it knows ${names.join(", ")}`,
        );
      return cell;
    },
  };
}

const text = "SELECT tenant, cell, moving_to FROM atlasqueue.tenants WHERE tenant = ANY($1::text[])";
