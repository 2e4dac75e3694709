import { DatabaseTimeoutError, isFileFault, isLocked, isUnavailable } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** How many rows the next page takes, after what the last one could. */
export type Pace = { rows: number };

/** How many deadlines a late page has to come to its end. It was cancelled: more, and the server has other troubles. */
const over_deadlines_max = 3;

/**
 * Takes a page of up to `rows_max`. One that fails is halved, down to the row at fault: that is passed over, so that it
 * keeps nobody from what comes after it. A half is not sent before a late page is over, as it would take its locks for
 * another process's. Throws when the database is away, or goes on with a late page. `pace` is for the next call: each
 * page would spend deadlines to find out anew how much is too much.
 *
 * @example
 * const page = await byHalves(deps, 500, (rows) => clear(after, rows), async (error) => ({ last: await idAfter(deps, after), error }));
 */
export async function byHalves<T>(
  { database: { timeout_ms } }: Pick<Deps, "database">,
  rows_max: number,
  take: (rows: number) => Promise<T>,
  passOver: (error: unknown) => Promise<T>,
  pace: Pace = { rows: rows_max },
): Promise<T> {
  for (;;) {
    const rows = Math.min(pace.rows, rows_max);
    const began = performance.now();
    try {
      const page = await take(rows);
      pace.rows = nextRows(rows, rows_max, (performance.now() - began) / timeout_ms);
      return page;
    } catch (error) {
      pace.rows = Math.ceil(rows / 2);
      const late = error instanceof DatabaseTimeoutError;
      if (isUnavailable(error) && !late && !isFileFault(error) && !isLocked(error)) throw error;
      if (late && !(await error.isOver(over_deadlines_max * timeout_ms))) throw error;
      if (rows === 1) return passOver(error);
    }
  }
}

/**
 * Twice as many after a page that took less than a quarter of its deadline: that many will be in time even if they are
 * somewhat larger. Otherwise as many again.
 *
 * @example
 * nextRows(250, 2_000, 0.1); // 500
 */
export function nextRows(rows: number, rows_max: number, deadlines: number): number {
  return deadlines < 0.25 ? Math.min(2 * rows, rows_max) : rows;
}

/** The first job after an id, which is the one a page of one row begins with. */
export async function idAfter(deps: Pick<Deps, "database">, after: string): Promise<string | undefined> {
  const [job] = await executeOn(deps.database)<{ id: string }>({
    text: "SELECT id FROM atlasqueue.jobs WHERE id > $1::text::uuid ORDER BY id LIMIT 1",
    params: [after],
  });
  return job?.id;
}
