import { z } from "zod";

const queue = z.object({ tenant: z.string(), queue: z.string() });
const job = queue.extend({ id: z.string(), priority: z.number() });
const ids = z.array(z.string());
const topic = z.enum(["finished", "cancelled"]);
const worker = z.object({ tenant: z.string(), id: z.string() });
const presence = worker.extend({
  host: z.string(),
  pid: z.int(),
  queues: ids,
  handlers: ids,
  concurrency: z.int(),
  active: z.int(),
  state: z.enum(["running", "draining", "stuck"]),
  lease_seconds: z.number(),
});

/** The calls of a signal that have an answer, with their arguments. */
const call = z.discriminatedUnion("method", [
  z.object({ method: z.literal("push"), given: z.tuple([z.array(job)]) }),
  z.object({ method: z.literal("pushFront"), given: z.tuple([z.array(job)]) }),
  z.object({ method: z.literal("setMarked"), given: z.tuple([queue, z.boolean()]) }),
  z.object({ method: z.literal("take"), given: z.tuple([z.array(queue), z.int()]) }),
  z.object({ method: z.literal("wait"), given: z.tuple([z.array(queue), z.number()]) }),
  z.object({ method: z.literal("look"), given: z.tuple([queue]) }),
  z.object({ method: z.literal("peek"), given: z.tuple([queue, z.int()]) }),
  z.object({ method: z.literal("skipTo"), given: z.tuple([queue, z.string()]) }),
  z.object({ method: z.literal("endOverflow"), given: z.tuple([queue]) }),
  z.object({ method: z.literal("takeTurn"), given: z.tuple([z.string(), z.number()]) }),
  z.object({ method: z.literal("mark"), given: z.tuple([z.string(), z.number()]) }),
  z.object({ method: z.literal("isMarked"), given: z.tuple([z.string()]) }),
  z.object({
    method: z.literal("takePermits"),
    given: z.tuple([z.string(), z.array(z.number()), z.object({ limit: z.number(), period_ms: z.number() })]),
  }),
  z.object({ method: z.literal("deadLetters.add"), given: z.tuple([ids]) }),
  z.object({ method: z.literal("deadLetters.remove"), given: z.tuple([ids]) }),
  z.object({ method: z.literal("deadLetters.page"), given: z.tuple([z.int(), z.int()]) }),
  z.object({ method: z.literal("deadLetters.look"), given: z.tuple([]) }),
  z.object({ method: z.literal("deadLetters.carryOn"), given: z.tuple([ids, z.string().nullable(), z.string()]) }),
  z.object({ method: z.literal("deadLetters.clear"), given: z.tuple([]) }),
  z.object({ method: z.literal("notices.tell"), given: z.tuple([topic, ids]) }),
  z.object({ method: z.literal("presence.announce"), given: z.tuple([presence]) }),
  z.object({ method: z.literal("presence.withdraw"), given: z.tuple([worker]) }),
  z.object({ method: z.literal("presence.list"), given: z.tuple([z.string()]) }),
  z.object({ method: z.literal("check"), given: z.tuple([]) }),
]);

/**
 * What a process sends when its signal is another's. `stop` ends the wait of that call; `listen` and `unlisten` have no
 * answer.
 */
export const toHost = z.union([
  z.object({ signal: z.literal("call"), id: z.int(), call }),
  z.object({ signal: z.literal("stop"), id: z.int() }),
  z.object({ signal: z.enum(["listen", "unlisten"]), topic }),
]);
export type ToHost = z.infer<typeof toHost>;
export type Call = z.infer<typeof call>;

/** What it receives. `failed`: there is no signal now, for the reason given. */
export const fromHost = z.union([
  z.object({ signal: z.literal("answer"), id: z.int(), value: z.unknown().optional() }),
  z.object({ signal: z.literal("failed"), id: z.int(), reason: z.string() }),
  z.object({ signal: z.literal("notice"), topic, ids }),
]);
export type FromHost = z.infer<typeof fromHost>;
