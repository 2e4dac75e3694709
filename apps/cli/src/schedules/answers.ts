import { schedule } from "@atlasqueue/contract";
import { z } from "zod";
import { Trouble } from "../exit.ts";

/** What these commands need of a schedule; a newer API may send more. */
const scheduleAnswer = schedule.extend({ job: z.looseObject({ type: z.string() }) }).loose();
export type ScheduleAnswer = z.infer<typeof scheduleAnswer>;

const pageAnswer = z.looseObject({ items: z.array(scheduleAnswer), next_cursor: z.string().nullable() });

export function readSchedule(answer: unknown): ScheduleAnswer {
  return read(scheduleAnswer, answer);
}

export function readPage(answer: unknown): z.infer<typeof pageAnswer> {
  return read(pageAnswer, answer);
}

function read<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new Trouble("the API answered with something that is not a schedule; is it another version?");
}
