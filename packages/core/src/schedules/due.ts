import { textArray } from "../database/literals.ts";
import type { ScheduleRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { ScheduleRef } from "./find.ts";

type Known = "tenant" | "name" | "cron" | "timezone" | "catch_up" | "job" | "traceparent" | "tracestate";

/** A schedule as it was `now`. Its `version` is another one once anything has changed. */
export type DueSchedule = Pick<ScheduleRow, Known> & { next_at: Date; now: Date; version: string };

/** The columns of a `DueSchedule`, of the table as `known`. */
export const dueColumns = `known.tenant, known.name, cron, timezone, catch_up, job, next_at, traceparent, tracestate,
         now() AS now, known.xmin::text AS version`;

/**
 * All tenants' schedules with a slot due, except the given ones: of each tenant the longest due first, and tenants in
 * turn, as those of one may have a week to catch up with; which tenant comes first is left to chance, as those with the
 * most to catch up with are due for longest. Those that someone's transaction holds are left out: they
 * would fill the page and hide the others.
 */
export async function dueSchedules(
  deps: Pick<Deps, "database">,
  limit: number,
  but: readonly ScheduleRef[],
): Promise<readonly DueSchedule[]> {
  const params = [limit, textArray(but.map(({ tenant }) => tenant)), textArray(but.map(({ name }) => name))];
  return executeOn(deps.database)<DueSchedule>({ text: due, params });
}

const due = `
  WITH numbered AS MATERIALIZED (
    SELECT tenant, name, row_number() OVER (PARTITION BY tenant ORDER BY next_at) AS place FROM atlasqueue.schedules
    WHERE next_at <= now() AND paused_at IS NULL
      AND (tenant, name) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))
  )
  SELECT ${dueColumns} FROM numbered JOIN atlasqueue.schedules AS known USING (tenant, name)
  WHERE next_at <= now() AND paused_at IS NULL
  ORDER BY place, random() LIMIT $1::int FOR NO KEY UPDATE OF known SKIP LOCKED`;
