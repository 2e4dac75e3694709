import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import type { ScheduleRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { createRests } from "../room/rests.ts";
import { readCron } from "./cron/cron.ts";
import type { ScheduleRef } from "./find.ts";

/** Before all schedules. */
export const firstSchedule: ScheduleRef = { tenant: "", name: "" };

/**
 * Bring schedules back whose next slot is later than the one that comes next: the database's clock was ahead when they
 * were last fired, and they would be silent until it gets there again; or the rules of their time zone have changed since.
 * A slot that was fired early gets no second job, by its key. Looks at a bounded number, and returns the last of them for
 * the next call, or undefined when there are no more.
 *
 * @example
 * for (let after = firstSchedule; after; ) after = await bringBack(deps, after, 100);
 */
export async function bringBack(
  deps: Pick<Deps, "database">,
  after: ScheduleRef,
  schedules_max: number,
): Promise<ScheduleRef | undefined> {
  const execute = executeOn(deps.database);
  const rows = await execute<Ahead>({ text: look, params: [after.tenant, after.name, schedules_max] });
  const late: (Ahead & { earlier: Date })[] = [];
  const rest = createRests();
  for (const row of rows) {
    const earlier = nextOf(row);
    if (earlier && earlier < row.next_at) late.push({ ...row, earlier });
    await rest();
  }
  const column = (read: (row: (typeof late)[number]) => string) => textArray(late.map(read));
  if (late.length > 0)
    await execute({
      text: move,
      params: [
        column(({ tenant }) => tenant),
        column(({ name }) => name),
        column(({ cron }) => cron),
        column(({ timezone }) => timezone),
        column(({ next_at }) => next_at.toISOString()),
        column(({ earlier }) => earlier.toISOString()),
      ],
    });
  return rows.length === schedules_max ? rows.at(-1) : undefined;
}

type Ahead = Pick<ScheduleRow, "tenant" | "name" | "cron" | "timezone"> & { next_at: Date; now: Date };

/** Undefined for one that was changed by hand and cannot be read: that is told when it is due. */
function nextOf({ cron, timezone, now }: Ahead): Date | undefined {
  try {
    return readCron(cron, timezone).after(now, 1)[0];
  } catch {
    return undefined;
  }
}

// The shortest time between two slots is a minute.
const look = composed(
  "schedules/look-ahead",
  ["tenant", "name", "schedules_max"],
  `
  SELECT tenant, name, cron, timezone, next_at, now() AS now FROM atlasqueue.schedules
  WHERE (tenant, name) > ($1, $2) AND paused_at IS NULL AND next_at > now() + interval '1 minute'
  ORDER BY tenant, name LIMIT $3::int`,
);

// One that is locked, or was changed meanwhile, comes next time.
const move = composed(
  "schedules/bring-back",
  ["tenants", "names", "crons", "timezones", "were", "earlier"],
  `
  WITH late AS MATERIALIZED (
    SELECT tenant, name, earlier
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
      AS late(tenant, name, cron, timezone, next_at, earlier)
    JOIN atlasqueue.schedules AS known USING (tenant, name, cron, timezone, next_at)
    WHERE paused_at IS NULL FOR UPDATE OF known SKIP LOCKED
  )
  UPDATE atlasqueue.schedules SET next_at = earlier FROM late
  WHERE schedules.tenant = late.tenant AND schedules.name = late.name`,
);
