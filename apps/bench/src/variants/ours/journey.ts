import type { Database, Observe, Signal } from "@atlasqueue/core";
import type { Journeys } from "../ours.ts";

/** Where a job gets to on its way, in this order. A stage of the table is what passed between two of them. */
const marks = [
  "submitted",
  "insert sent",
  "committed",
  "push sent",
  "popped",
  "claim sent",
  "claimed",
  "handler entered",
  "settlement sent",
  "settled",
] as const;
type Mark = (typeof marks)[number];
type Times = Partial<Record<Mark, number>>;

export type Noting = Journeys & {
  /** Around the parts of a producer or of a worker, so that what they do is noted. */
  watch: Watch;
  /** Called as a job is submitted; `named` when its id is known. */
  submitted(): Times;
  named(times: Times, id: string): void;
};

export type Watch = {
  database(database: Database): Database;
  signal(signal: Signal): Signal;
  observe: Observe;
};

type Sent = { sent: number; answered: number };
type Kind = "insert" | "claim" | "settlement";

/**
 * Notes for each job when it passed each mark. What happens to a statement is noted by its kind, and its jobs are those
 * that are reported before anything else is answered: their events follow its answer in the same turn of the event loop.
 */
export function noteJourneys(): Noting {
  const journeys = new Map<string, Times>();
  const last = new Map<Kind, Sent>();
  const now = () => performance.now();
  const timesOf = (id: string): Times => {
    const times = journeys.get(id) ?? {};
    journeys.set(id, times);
    return times;
  };
  const noteStatement = (id: string, kind: Kind, before: Mark, after: Mark) => {
    const times = timesOf(id);
    const { sent, answered } = last.get(kind) ?? { sent: NaN, answered: NaN };
    times[before] ??= sent;
    times[after] ??= answered;
  };
  const notePopped = (ids: readonly string[]) => {
    const at = now();
    for (const id of ids) timesOf(id).popped ??= at;
  };

  return {
    watch: {
      database(database) {
        const unsafe = ((text: string, ...rest: [never, never]) => {
          const query = database.sql.unsafe(text, ...rest);
          const kind = kindOf(text);
          if (!kind) return query;
          const sent = now();
          void query.then(
            () => last.set(kind, { sent, answered: now() }),
            () => {},
          );
          return query;
        }) as Database["sql"]["unsafe"];
        const sql = new Proxy(database.sql, {
          get: (target, name) => (name === "unsafe" ? unsafe : Reflect.get(target, name)),
        });
        return { ...database, sql };
      },
      signal: (signal) => ({
        ...signal,
        push(jobs) {
          // Not when it is answered: a worker may have popped them by then.
          const at = now();
          for (const { id } of jobs) timesOf(id)["push sent"] ??= at;
          return signal.push(jobs);
        },
        async take(queues, ids_max) {
          const taken = await signal.take(queues, ids_max);
          notePopped(taken.ids);
          return taken;
        },
        async wait(...waiting) {
          const woken = await signal.wait(...waiting);
          if (woken) notePopped([woken.id]);
          return woken;
        },
      }),
      observe(event) {
        if (event.event === "job_created") noteStatement(event.job_id, "insert", "insert sent", "committed");
        if (event.event === "lease_acquired") noteStatement(event.job_id, "claim", "claim sent", "claimed");
        if (event.event === "job_succeeded") noteStatement(event.job_id, "settlement", "settlement sent", "settled");
        if (event.event === "handler_start") timesOf(event.job_id)["handler entered"] ??= now();
      },
    },
    submitted: () => ({ submitted: now() }),
    named: (times, id) => void Object.assign(timesOf(id), times),
    stages(slowest_part) {
      const done = [...journeys.values()].filter(isWhole).toSorted((a, b) => takenBy(b) - takenBy(a));
      const slowest = done.slice(0, Math.ceil(done.length * slowest_part));
      return marks.slice(1).map((mark, at) => {
        const before = marks[at] as Mark;
        const spent = (times: Required<Times>) => times[mark] - times[before];
        const sorted = done.map(spent).toSorted((a, b) => a - b);
        return {
          name: `${before} → ${mark}`,
          median_ms: sorted[sorted.length >> 1] ?? NaN,
          slowest_ms: slowest.reduce((sum, times) => sum + spent(times), 0) / slowest.length,
        };
      });
    },
    taken: () => [...journeys.values()].filter(isWhole).map(takenBy),
  };
}

const isWhole = (times: Times): times is Required<Times> => marks.every((mark) => times[mark] !== undefined);
const takenBy = (times: Required<Times>) => times["handler entered"] - times.submitted;

function kindOf(text: string): Kind | undefined {
  if (text.includes("INSERT INTO atlasqueue.jobs")) return "insert";
  if (text.includes("SET status = 'running'")) return "claim";
  if (text.includes("WITH settled AS")) return "settlement";
  return undefined;
}
