import { expect, test } from "vitest";
import type { AtlasEvent } from "../observe/events.ts";
import { announce } from "./announce.ts";
import { memorySignal } from "./memory/signal.ts";
import type { ReadyJob } from "./signal.ts";

const database = {} as never;
const ready = (count: number): ReadyJob[] =>
  Array.from({ length: count }, (_, at) => ({ tenant: "default", queue: `q${at}`, id: `job ${at}`, priority: 0 }));

test("jobs of five hundred queues are signalled in one call, and each queue is told of", async () => {
  const signal = memorySignal();
  const calls: number[] = [];
  const events: AtlasEvent[] = [];
  const counting = {
    ...signal,
    push(jobs: readonly ReadyJob[]) {
      calls.push(jobs.length);
      return signal.push(jobs);
    },
  };
  const jobs = ready(500);
  const deps = { database, observe: (event: AtlasEvent) => void events.push(event), signal: counting };
  expect(await announce(deps, jobs)).toBe(500);
  expect(calls).toEqual([500]);
  for (const job of jobs) expect((await signal.look(job)).length).toBe(1);
  expect(events).toEqual(jobs.map(({ queue }) => ({ event: "job_enqueued", queue, count: 1 })));
});
