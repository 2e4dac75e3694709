import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { ScheduleRef } from "./find.ts";

/** A schedule → (nothing). The jobs that it made stay. False when there is none. */
export async function deleteSchedule(deps: Deps, { tenant, name }: ScheduleRef): Promise<boolean> {
  const text = "DELETE FROM schedules WHERE tenant = $1 AND name = $2 RETURNING name";
  const [row] = await executeOn(deps.database)({ text, params: [tenant, name] });
  if (!row) return false;
  deps.observe({ event: "schedule_changed", tenant, schedule: name, change: "deleted" });
  return true;
}
