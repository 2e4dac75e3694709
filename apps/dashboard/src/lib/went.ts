import type { Throughput } from "@atlasqueue/contract";

/** Of the latest quarter of an hour: the step under way has hardly begun. */
const latest_steps = 5;

/** What became of a queue's jobs: each step of the last hour, rates of the last minutes, and which part of the attempts failed. */
export type Went = {
  succeeded: readonly number[];
  in_per_second: number;
  out_per_second: number;
  /** Null while no attempt ended in the last hour. */
  failing: number | null;
};

/** @example wentOf(await client.stats.throughput(["mails"]), Date.now()).get("mails")?.in_per_second; */
export function wentOf({ from, step_seconds, items }: Throughput, now_ms: number): Map<string, Went> {
  const steps = items[0]?.succeeded.length ?? 0;
  const since_ms = Date.parse(from) + Math.max(0, steps - latest_steps) * step_seconds * 1_000;
  const seconds = Math.max(1, (now_ms - since_ms) / 1_000);
  const perSecond = (values: readonly number[]) => sum(values.slice(-latest_steps)) / seconds;
  return new Map(
    items.map(({ queue, submitted, succeeded, failed }) => {
      const ended = sum(succeeded) + sum(failed);
      const rates = { in_per_second: perSecond(submitted), out_per_second: perSecond(succeeded) };
      return [queue, { succeeded, ...rates, failing: ended === 0 ? null : sum(failed) / ended }];
    }),
  );
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
