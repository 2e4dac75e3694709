import type { Schedule } from "@atlasqueue/contract";
import { useAct } from "../../api/act.ts";
import { client } from "../../api/client.ts";
import { useLive } from "../../api/queries.ts";
import { slow_refresh_ms } from "../../api/refresh.ts";

export const schedulesKey = ["schedules"] as const;

export function useSchedules() {
  return useLive({
    key: schedulesKey,
    ask: async (signal) => {
      const all: Schedule[] = [];
      for await (const schedule of client.schedules.list({ signal })) all.push(schedule);
      return all;
    },
    every_ms: slow_refresh_ms,
  });
}

/** Pause, resume and run now. */
export function useScheduleActs() {
  const shown = (name: string, paused: boolean) => [
    {
      key: schedulesKey,
      to: (all: Schedule[]) => all.map((each) => (each.name === name ? { ...each, paused } : each)),
    },
  ];
  const touches = [schedulesKey];
  return {
    pause: useAct({
      send: (name: string) => client.schedules.pause(name),
      expect: (name) => shown(name, true),
      what: "pause the schedule",
      done: (_, name) => `${name} is paused: it makes no jobs`,
      touches,
    }),
    resume: useAct({
      send: (name: string) => client.schedules.resume(name),
      expect: (name) => shown(name, false),
      what: "resume the schedule",
      done: (_, name) => `${name} goes on with its next run`,
      touches,
    }),
    run: useAct({
      send: ({ name }: Schedule) => client.schedules.run(name),
      what: "run it now",
      done: (_, { name }) => `${name} has a job now, besides its own runs`,
      touches: [["jobs"]],
    }),
  };
}
