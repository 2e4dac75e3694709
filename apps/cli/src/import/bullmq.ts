import { cronOf, keyOf, scheduleNameOf, submissionOf, templateOf, type JobsOptions } from "@atlasqueue/bullmq/mapping";
import { limits } from "@atlasqueue/contract";
import { Redis } from "ioredis";
import { Trouble } from "../exit.ts";
import { orLeft, type Found, type Source } from "./source.ts";

const page_max = 500;
/** The score of a delayed job is its time in milliseconds, times this, plus its place among those of the same time. */
const places_of_a_time = 4_096;
const fields = ["name", "data", "opts", "priority", "parentKey", "atm", "attemptsMade"] as const;

type Entry = { id: string; score: number };
type Stored = Record<(typeof fields)[number], string | null>;

/** The jobs and job schedulers of a queue of BullMQ 5 or 6. Throws `Trouble` if there is no such queue. */
export async function bullmqSource(url: string, queue: string, prefix: string): Promise<Source> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null });
  // Each call rejects with the same.
  redis.on("error", () => {});
  const base = `${prefix}:${queue}`;
  try {
    await redis.connect();
    if (!(await redis.exists(`${base}:meta`)))
      throw new Trouble(
        `Redis has no BullMQ queue "${queue}" with the prefix "${prefix}". Check --queue and --prefix.`,
      );
  } catch (error) {
    redis.disconnect();
    if (error instanceof Trouble) throw error;
    throw new Trouble(`The Redis of BullMQ cannot be reached: ${String(error)}`, { cause: error });
  }
  return {
    name: `BullMQ queue ${queue}`,
    read: () => read(redis, base, queue),
    async close() {
      redis.disconnect();
    },
  };
}

async function* read(redis: Redis, base: string, queue: string): AsyncGenerator<Found> {
  for (const state of ["wait", "paused"])
    for await (const page of listPages(redis, `${base}:${state}`)) yield* jobsOf(redis, base, queue, "waiting", page);
  for (const state of ["prioritized", "delayed"])
    for await (const page of setPages(redis, `${base}:${state}`)) yield* jobsOf(redis, base, queue, state, page);
  for await (const page of listPages(redis, `${base}:active`))
    yield* left(page, "It is running. Let its worker end it.");
  for await (const page of setPages(redis, `${base}:waiting-children`))
    yield* left(page, "It waits for other jobs of a flow. Let the flow end.");
  for await (const page of setPages(redis, `${base}:repeat`))
    for (const { id } of page) yield orLeft(id, schedulerOf(await redis.hgetall(`${base}:repeat:${id}`), queue, id));
}

function* left(page: readonly Entry[], reason: string): Generator<Found> {
  for (const { id } of page) yield { kind: "left", id, reason };
}

/** The oldest is the last. Jobs that come meanwhile are put in front. */
async function* listPages(redis: Redis, key: string): AsyncGenerator<Entry[]> {
  for (let end = -1; ; end -= page_max) {
    const ids = await redis.lrange(key, end - page_max + 1, end);
    if (ids.length === 0) return;
    yield ids.toReversed().map((id) => ({ id, score: 0 }));
  }
}

async function* setPages(redis: Redis, key: string): AsyncGenerator<Entry[]> {
  for (let start = 0; ; start += page_max) {
    const found = await redis.zrange(key, start, String(start + page_max - 1), "WITHSCORES");
    if (found.length === 0) return;
    yield Array.from({ length: found.length / 2 }, (_, at) => ({
      id: String(found[2 * at]),
      score: Number(found[2 * at + 1]),
    }));
  }
}

async function* jobsOf(redis: Redis, base: string, queue: string, state: string, page: Entry[]): AsyncGenerator<Found> {
  const pipeline = redis.pipeline();
  for (const { id } of page) pipeline.hmget(`${base}:${id}`, ...fields);
  const answers = (await pipeline.exec()) ?? [];
  for (const [at, entry] of page.entries()) {
    const [failure, found] = answers[at] ?? [];
    if (failure) throw failure;
    const values = (found ?? []) as (string | null)[];
    const stored = Object.fromEntries(fields.map((field, place) => [field, values[place] ?? null])) as Stored;
    const isNext = state === "delayed" && entry.id.startsWith("repeat:") && attemptsOf(stored) === 0;
    // A mark between the jobs of older versions, a job that is gone by now, or the next one of a scheduler.
    if (stored.name === null || isNext) continue;
    if (stored.parentKey === null) yield orLeft(entry.id, jobOf(stored, entry, queue, state));
    else yield { kind: "left", id: entry.id, reason: "It belongs to a flow. Let the flow end." };
  }
}

const attemptsOf = ({ atm, attemptsMade }: Stored) => Number(atm ?? attemptsMade ?? 0);

const jobOf =
  (stored: Stored, { id, score }: Entry, queue: string, state: string) =>
  (): Found => {
    const { attempts = 1, backoff, removeOnComplete } = JSON.parse(stored.opts ?? "{}") as JobsOptions;
    const attempts_left = (attempts || 1) - attemptsOf(stored);
    const options = {
      jobId: id,
      removeOnComplete,
      attempts: Math.min(Math.max(attempts_left, 1), limits.attempts_max),
      backoff,
      priority: Number(stored.priority ?? 0),
    };
    const job = {
      ...submissionOf(queue, stored.name ?? "", JSON.parse(stored.data ?? "{}"), options),
      idempotency_key: keyOf(queue, id),
      ...(state === "delayed" && { run_at: new Date(Math.floor(score / places_of_a_time)).toISOString() }),
    };
    return { kind: "job", state, id, job };
  };

const schedulerOf = (stored: Record<string, string>, queue: string, id: string) => (): Found => {
  const { name, pattern, every, tz, limit, startDate, endDate, data = "{}", opts = "{}" } = stored;
  if (name === undefined || (pattern ?? every) === undefined)
    return { kind: "left", id, reason: "It is a repeatable job of BullMQ before 5.16. Create a schedule for it." };
  const begins = startDate !== undefined && Number(startDate) > Date.now();
  const repeat = { pattern, every: every && Number(every), tz, limit, endDate, startDate: begins || undefined };
  const { attempts, backoff, priority } = JSON.parse(opts) as JobsOptions;
  const job = templateOf(queue, name, JSON.parse(data), { attempts, backoff, priority });
  return { kind: "schedule", id, schedule: { name: scheduleNameOf(queue, id), ...cronOf(repeat as object), job } };
};
