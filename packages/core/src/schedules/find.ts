import type { ScheduleRow } from "../database/schema/index.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

export type ScheduleRef = { tenant: string; name: string };

/** A schedule, and what the database's clock said when it was read: its next slots are counted from there. */
export type SeenSchedule = ScheduleRow & { seen_at: Date };

export async function findSchedule(deps: Pick<Deps, "database">, ref: ScheduleRef): Promise<SeenSchedule | undefined> {
  return findScheduleWith(executeOn(deps.database), ref);
}

/** `hold` keeps it as it is until the transaction ends. */
export async function findScheduleWith(
  execute: Execute,
  { tenant, name }: ScheduleRef,
  hold = false,
): Promise<SeenSchedule | undefined> {
  const text = hold ? `${find} FOR UPDATE` : find;
  const [row] = await execute<SeenSchedule>({ text, params: [tenant, name] });
  return row;
}

const find = "SELECT *, now() AS seen_at FROM schedules WHERE tenant = $1 AND name = $2";
