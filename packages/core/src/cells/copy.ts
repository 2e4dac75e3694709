import { pipeline } from "node:stream/promises";
import type { Sent } from "../database/server/cancel-late.ts";
import { CellError, type Cell } from "./place.ts";
import { countColumns, countsOf, movedTables } from "./tables.ts";

/** COPY has no parameters. */
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/**
 * Copy the tenant's rows, or those that belong to the jobs `ids`, as they are at one moment, in one transaction of the other
 * cell. They flow through this process without being kept. Ids, keys, places in groups and times stay the same. Throws
 * `CellError`, and copies nothing, unless the other cell then has as many rows in each table, and as many jobs of each
 * queue and status.
 */
export async function copyRows(from: Cell, to: Cell, tenant: string, ids?: readonly string[]): Promise<void> {
  await from.database.sql.begin("isolation level repeatable read read only", (source) =>
    to.database.sql.begin(async (target) => {
      const here = (text: string) => source.unsafe(from.database.schema.fill(text));
      const there = (text: string) => target.unsafe(to.database.schema.fill(text));
      const copy = async (select: string, into: string): Promise<void> => {
        const query = here(`COPY (${select}) TO STDOUT`);
        await pipeline(await query.readable(), inChunks, await there(`COPY ${into} FROM STDIN`).writable());
        // The driver leaves it paused when the last rows came faster than they were written.
        (query as unknown as Sent).state?.socket.resume();
      };
      const compare = async (what: string, select: string): Promise<void> => {
        const [left, right] = [JSON.stringify(await here(select)), JSON.stringify(await there(select))];
        if (left === right) return;
        throw new CellError(`${what} of ${tenant} differ: ${left} in ${from.name}, ${right} in ${to.name}`);
      };
      const mine = `tenant = ${literal(tenant)}`;
      const among = (column: string) => (ids ? `${mine} AND ${column} = ANY('{${ids.join(",")}}'::uuid[])` : mine);
      for (const { name, columns, order, of } of movedTables) {
        if (ids && !of) continue;
        const where = among(of ?? "");
        await copy(
          `SELECT ${columns} FROM atlasqueue.${name} WHERE ${where}${order}`,
          `atlasqueue.${name} (${columns})`,
        );
        await compare(`rows in ${name}`, `SELECT count(*)::int FROM atlasqueue.${name} WHERE ${where}`);
      }
      const counts = countsOf(among("id"));
      await copy(counts, `atlasqueue.queue_changes (${countColumns})`);
      await compare("jobs", `${counts} ORDER BY queue`);
    }),
  );
}

/** All that has arrived in one write, instead of a write for each row. */
async function* inChunks(rows: AsyncIterable<Buffer>) {
  yield* rows;
}
