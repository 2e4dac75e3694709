import type { Client, Schedule } from "@atlasqueue/client";
import { missing } from "./job.ts";
import { cronOf, scheduleNameOf, templateOf, type JobsOptions, type RepeatOptions } from "./mapping.ts";
import { checkOptions } from "./refused.ts";

export type JobTemplate = { name?: string; data?: unknown; opts?: JobsOptions | undefined };

const schedulerOf = (queue: string, { name, cron, timezone, job, next_runs }: Schedule) => ({
  key: name.slice(queue.length + 1),
  name: job.type,
  pattern: cron,
  tz: timezone,
  next: Date.parse(next_runs[0] ?? ""),
  template: { data: job.payload },
});

export async function putScheduler(
  client: Client,
  queue: string,
  id: string,
  repeat: RepeatOptions,
  { name = id, data, opts = {} }: JobTemplate,
): Promise<void> {
  const { attempts, backoff, priority, removeOnComplete, removeOnFail, keepLogs, ...others } = opts;
  const reason = "Each run is a job of its own, and starts at its time.";
  checkOptions(others, "a job scheduler's template", ["stackTraceLimit"], { delay: reason, jobId: reason });
  const job = templateOf(queue, name, data, { attempts, backoff, priority });
  await client.schedules.put({ name: scheduleNameOf(queue, id), ...cronOf(repeat), job });
}

export async function getScheduler(client: Client, queue: string, id: string) {
  const found = await client.schedules.get(scheduleNameOf(queue, id)).catch(missing);
  return found && schedulerOf(queue, found);
}

export async function listSchedulers(client: Client, queue: string) {
  const schedulers: ReturnType<typeof schedulerOf>[] = [];
  for await (const one of client.schedules.list())
    if (one.job.queue === queue && one.name.startsWith(`${queue}:`)) schedulers.push(schedulerOf(queue, one));
  return schedulers;
}

/** Whether there was one. */
export async function removeScheduler(client: Client, queue: string, id: string): Promise<boolean> {
  const removed = client.schedules.delete(scheduleNameOf(queue, id)).then(() => true as const);
  return (await removed.catch(missing)) ?? false;
}
