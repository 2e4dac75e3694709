import { DatabaseTimeoutError, isFileFault, isLocked, isUnavailable } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** How many deadlines a late page has to come to its end. It was cancelled: more, and the server has other troubles. */
const over_deadlines_max = 3;

/**
 * Takes a page of `rows_max`. One that fails is halved, down to the row at fault: that is passed over, so that it
 * keeps none of those after it. A half is not sent before a late page is over, as it would pass over the rows that page
 * has locked. Throws when the database is away, or goes on with a late page.
 *
 * @example
 * const page = await byHalves(deps, 500, (rows) => clear(after, rows), async (error) => ({ last: await idAfter(deps, after), error }));
 */
export async function byHalves<T>(
  { database: { timeout_ms } }: Pick<Deps, "database">,
  rows_max: number,
  take: (rows: number) => Promise<T>,
  passOver: (error: unknown) => Promise<T>,
): Promise<T> {
  for (let rows = rows_max; ; rows = Math.ceil(rows / 2))
    try {
      return await take(rows);
    } catch (error) {
      const late = error instanceof DatabaseTimeoutError;
      if (isUnavailable(error) && !late && !isFileFault(error) && !isLocked(error)) throw error;
      if (late && !(await error.isOver(over_deadlines_max * timeout_ms))) throw error;
      if (rows === 1) return passOver(error);
    }
}

/** The first job after an id, which is the one a page of one row begins with. */
export async function idAfter(deps: Pick<Deps, "database">, after: string): Promise<string | undefined> {
  const [job] = await executeOn(deps.database)<{ id: string }>({
    text: "SELECT id FROM atlasqueue.jobs WHERE id > $1::text::uuid ORDER BY id LIMIT 1",
    params: [after],
  });
  return job?.id;
}
