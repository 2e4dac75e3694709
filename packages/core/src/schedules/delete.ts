import { plain } from "../database/plain.ts";
import { schedules } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { isSchedule, type ScheduleRef } from "./find.ts";

/** A schedule → (nothing). The jobs it made stay. False when there is no such schedule. */
export async function deleteSchedule(deps: Deps, { tenant, name }: ScheduleRef): Promise<boolean> {
  const [row] = await plain(deps.database, (db) =>
    db.delete(schedules).where(isSchedule({ tenant, name })).returning({ name: schedules.name }),
  );
  if (!row) return false;
  deps.observe({ event: "schedule_changed", tenant, schedule: name, change: "deleted" });
  return true;
}
