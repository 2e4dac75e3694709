import { DatabaseTimeoutError, isFileFault, isLocked, isUnavailable } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pause } from "../pause.ts";

/** A late page was cancelled, and ends within this: until then it has its locks. */
const rest_ms_max = 1_000;

/**
 * Takes a page of `rows_max`. A page that fails is halved, down to the row at fault, which is skipped, so that the rows
 * after it are taken. A half is sent some time after a late page, as it skips the rows that the page has locked: those
 * wait for the next pass. Throws if the database is unavailable.
 *
 * @example
 * const page = await bisectOnError(deps, 500, (rows) => clear(after, rows), async (error) => ({ last: await idAfter(deps, after), error }));
 */
export async function bisectOnError<T>(
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
      if (late) await pause(Math.min(timeout_ms, rest_ms_max));
      if (rows === 1) return passOver(error);
    }
}

/** The first job after an id that `which` selects, and that a page of one row begins with. */
export async function idAfter(deps: Pick<Deps, "database">, after: string, which = ""): Promise<string | undefined> {
  const [job] = await executeOn(deps.database)<{ id: string }>({
    text: `SELECT id FROM atlasqueue.jobs WHERE id > $1::text::uuid${which} ORDER BY id LIMIT 1`,
    params: [after],
  });
  return job?.id;
}
