import { DatabaseTimeoutError, isFileFault, isUnavailable } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * Takes a page of up to `rows_max`. One that fails is halved, down to the row at fault: that is passed over, so that it
 * keeps nobody from what comes after it. Throws when the database is away.
 *
 * @example
 * const page = await byHalves(500, (rows) => clear(after, rows), async (error) => ({ last: await idAfter(deps, after), error }));
 */
export async function byHalves<T>(
  rows_max: number,
  take: (rows: number) => Promise<T>,
  passOver: (error: unknown) => Promise<T>,
): Promise<T> {
  for (let rows = rows_max; ; rows = Math.ceil(rows / 2))
    try {
      return await take(rows);
    } catch (error) {
      const of_page = error instanceof DatabaseTimeoutError || isFileFault(error);
      if (isUnavailable(error) && !of_page) throw error;
      if (rows === 1) return passOver(error);
    }
}

/** The first job after an id, which is the one a page of one row begins with. */
export async function idAfter(deps: Pick<Deps, "database">, after: string): Promise<string | undefined> {
  const [job] = await executeOn(deps.database)<{ id: string }>({
    text: "SELECT id FROM jobs WHERE id > $1::text::uuid ORDER BY id LIMIT 1",
    params: [after],
  });
  return job?.id;
}
