import { z } from "zod";
import { median } from "../run/statistics.ts";

/** What one job cost in one measurement. */
export const costs = z.strictObject({
  /** Processor time in µs: of the processes that add and work, or, over HTTP, of the server's. */
  client_us: z.number(),
  /** Of all of PostgreSQL's processes. */
  postgres_us: z.number(),
  /** Of both Redis servers. */
  redis_us: z.number(),
  /** Time in µs in which one of all these could run and had no core. */
  waited_us: z.number(),
  /** What PostgreSQL wrote to its log. */
  wal_bytes: z.number(),
  /** How often it had the log forced to the disk. Missing where the time was too short to tell. */
  wal_fsyncs: z.number().optional(),
});
export type Costs = z.infer<typeof costs>;

/** Each of several measurements' costs, in the middle. */
export function medianCosts(rounds: readonly Costs[]): Costs {
  const middle = (of: (one: Costs) => number | undefined) =>
    median(rounds.map(of).filter((value) => value !== undefined));
  const wal_fsyncs = middle((one) => one.wal_fsyncs);
  return {
    client_us: middle((one) => one.client_us),
    postgres_us: middle((one) => one.postgres_us),
    redis_us: middle((one) => one.redis_us),
    waited_us: middle((one) => one.waited_us),
    wal_bytes: middle((one) => one.wal_bytes),
    ...(!Number.isNaN(wal_fsyncs) && { wal_fsyncs }),
  };
}

/** The processor time of a job in µs, everyone's together. */
export function cpuOf({ client_us, postgres_us, redis_us }: Costs): number {
  return client_us + postgres_us + redis_us;
}
