import { pipeline } from "node:stream/promises";
import type { Sql } from "../database/connect.ts";
import { CellError, type Cell } from "./cell.ts";
import { countColumns, countsOf, movedTables } from "./tables.ts";

/**
 * Copy the tenant's rows, or those that belong to the jobs `ids`, as they are at one moment, in one transaction of the other
 * cell. They flow through this process without being kept. Ids, keys, places in groups and times stay the same. Throws
 * `CellError`, and copies nothing, unless the other cell then has as many rows in each table, and as many jobs of each
 * queue and status.
 */
export async function copyRows(from: Cell, to: Cell, tenant: string, ids?: readonly string[]): Promise<void> {
  await from.database.sql.begin("isolation level repeatable read read only", (source) =>
    to.database.sql.begin(async (target) => {
      const copy = async (select: string, into: string): Promise<void> => {
        const rows = await source.unsafe(from.database.schema.fill(`COPY (${select}) TO STDOUT`)).readable();
        await pipeline(rows, await target.unsafe(to.database.schema.fill(`COPY ${into} FROM STDIN`)).writable());
      };
      /** The same look at both cells. */
      const compare = async (what: string, select: string): Promise<void> => {
        const look = async (sql: Sql, { database }: Cell) =>
          JSON.stringify(await sql.unsafe(database.schema.fill(select)));
        const [here, there] = [await look(source as never, from), await look(target as never, to)];
        if (here !== there)
          throw new CellError(
            `${what} of the tenant ${tenant} differ: ${here} in ${from.name}, ${there} in ${to.name}`,
          );
      };
      const mine = `tenant = ${literal(tenant)}`;
      const named = ids && `'{${ids.join(",")}}'::uuid[]`;
      const of = (condition: string | undefined) => (condition ? `${mine} AND ${condition}` : mine);
      const tables = movedTables.filter((table) => !named || table.ofJobs);
      for (const { name, columns, order, ofJobs } of tables) {
        const list = columns.map((column) => `"${column}"`).join(", ");
        const where = of(named && ofJobs?.(named));
        // Jobs of one flow may come in two calls, and nothing changes its row.
        if (named && name === "flows")
          await target.unsafe(to.database.schema.fill(`DELETE FROM atlasqueue.flows WHERE ${where}`));
        await copy(`SELECT ${list} FROM atlasqueue.${name} WHERE ${where}${order}`, `atlasqueue.${name} (${list})`);
        await compare(`rows in ${name}`, `SELECT count(*)::int FROM atlasqueue.${name} WHERE ${where}`);
      }
      const jobs = of(named && `id = ANY(${named})`);
      await copy(countsOf(jobs), `atlasqueue.queue_changes (${countColumns.join(", ")})`);
      await compare("jobs", `${countsOf(jobs)} ORDER BY queue`);
    }),
  );
}

/** COPY has no parameters. */
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
