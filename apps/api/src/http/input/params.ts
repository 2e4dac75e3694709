import { jobId, queueName, scheduleName, showValue } from "@atlasqueue/contract";
import type { z } from "zod";
import type { ApiContext } from "../context.ts";
import { invalid } from "../answers/problem.ts";

/** The job in the path, in lower case; 422 for what is not a UUID. */
export function readJobId(c: ApiContext): string {
  return readParam(c, "id", jobId);
}

/** The queue in the path; 422 for what cannot be the name of one. */
export function readQueueName(c: ApiContext): string {
  return readParam(c, "queue", queueName);
}

/** The schedule in the path; 422 for what cannot be the name of one. */
export function readScheduleName(c: ApiContext): string {
  return readParam(c, "name", scheduleName);
}

function readParam(c: ApiContext, name: string, schema: z.ZodType<string>): string {
  const text = c.req.param(name);
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalid([{ pointer: `path:${name}`, message: `must be ${schema.description}; got ${showValue(text)}` }]);
}
