import type { Schedule } from "@atlasqueue/contract";
import { yieldEvery } from "../pause.ts";
import { readCron } from "./cron/cron.ts";
import type { SeenSchedule } from "./list.ts";

const next_runs_max = 5;

/** A schedule as every surface shows it. */
export function showSchedule(row: SeenSchedule): Schedule {
  const paused = row.paused_at !== null;
  return {
    name: row.name,
    cron: row.cron,
    timezone: row.timezone,
    catch_up: row.catch_up,
    job: row.job,
    paused,
    next_runs: paused ? [] : nextRuns(row),
    last_run: row.last_slot_at?.toISOString() ?? null,
    last_job_id: row.last_job_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * A page of schedules, as every surface shows them. Their next slots are reckoned with a turn of the event loop now and
 * then, as a page has hundreds of them.
 *
 * @example
 * const items = await showSchedules(rows);
 */
export async function showSchedules(rows: readonly SeenSchedule[]): Promise<Schedule[]> {
  const shown: Schedule[] = [];
  const rest = yieldEvery();
  for (const row of rows) {
    shown.push(showSchedule(row));
    await rest();
  }
  return shown;
}

function nextRuns({ cron, timezone, seen_at }: SeenSchedule): string[] {
  const slots = readCron(cron, timezone).after(seen_at, next_runs_max);
  return slots.map((slot) => slot.toISOString());
}
