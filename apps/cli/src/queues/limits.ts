import { limits, type QueueLimitsInput } from "@atlasqueue/contract";
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { integer } from "../submit/job-fields.ts";

type Rate = { limit: number; period_seconds: number };

/** Removes a limit. Not null, which commander turns into an empty text. */
const none = "none";
type Flag<T> = T | typeof none | undefined;

export type LimitFlags = {
  concurrency?: Flag<number>;
  groupConcurrency?: Flag<number>;
  rate?: Flag<Rate>;
  groupRate?: Flag<Rate>;
  fairBy?: Flag<"group">;
};

export const limitOptions = {
  concurrency: () =>
    new Option("--concurrency <n>", "Concurrency: running jobs at a time; none for no limit").argParser(jobsAtOnce),
  groupConcurrency: () =>
    new Option("--group-concurrency <n>", "Concurrency per group; none for one job, in order").argParser(jobsAtOnce),
  rate: () =>
    new Option("--rate <n/seconds>", "Rate: max starts/seconds, such as 100/60; none for no limit").argParser(
      parseRate,
    ),
  groupRate: () => new Option("--group-rate <n/seconds>", "Rate of each group").argParser(parseRate),
  fairBy: () =>
    new Option("--fair-by <whom>", "group: round-robin by group; none: the oldest job first").choices([
      "group",
      none,
    ] as const),
};

/** Only what was given. */
export function limitFields({ concurrency, groupConcurrency, rate, groupRate, fairBy }: LimitFlags): QueueLimitsInput {
  return {
    ...(concurrency === undefined ? {} : { concurrency: orNull(concurrency) }),
    ...(groupConcurrency === undefined ? {} : { group_concurrency: orNull(groupConcurrency) }),
    ...(rate === undefined ? {} : { rate: orNull(rate) }),
    ...(groupRate === undefined ? {} : { group_rate: orNull(groupRate) }),
    ...(fairBy === undefined ? {} : { fair_by: orNull(fairBy) }),
  };
}

function orNull<T>(given: T | typeof none): T | null {
  return given === none ? null : given;
}

/** @example limitsText({ concurrency: 2, rate: { limit: 100, period_seconds: 60 } }); // "2 at once, 100 in 60 s" */
export function limitsText({ concurrency, group_concurrency, rate, group_rate, fair_by }: QueueLimitsInput): string {
  const rateText = ({ limit, period_seconds }: Rate) => `${limit} in ${period_seconds} s`;
  const parts = [
    concurrency && `${concurrency} at once`,
    rate && rateText(rate),
    group_concurrency && `${group_concurrency} of a group at once`,
    group_rate && `${rateText(group_rate)} of a group`,
    fair_by && `round-robin by ${fair_by}`,
  ];
  return parts.filter(Boolean).join(", ");
}

function jobsAtOnce(text: string): number | typeof none {
  return text === none ? none : integer(text, 1, limits.concurrency_max);
}

function parseRate(text: string): Rate | typeof none {
  if (text === none) return none;
  const [, limit, period] = /^(\d+)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  // The API checks the numbers.
  if (limit !== undefined && period !== undefined) return { limit: Number(limit), period_seconds: Number(period) };
  throw new InvalidArgumentError("It must be a number of jobs and one of seconds, such as 100/60, or none.");
}
