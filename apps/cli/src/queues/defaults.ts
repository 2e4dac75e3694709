import { limits, type QueueDefaultsInput } from "@atlasqueue/contract";
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { integer } from "../submit/job-fields.ts";

type Backoff = NonNullable<QueueDefaultsInput["backoff"]>;

/** Removes a default. Not null, which commander turns into an empty text. */
const none = "none";
type Flag<T> = T | typeof none | undefined;

export type DefaultFlags = {
  maxAttempts?: Flag<number>;
  backoff?: Flag<Backoff>;
  timeout?: Flag<number>;
  retention?: Flag<number>;
  resultTtl?: Flag<number>;
};

const orNone =
  <T>(parse: (text: string) => T) =>
  (text: string): T | typeof none =>
    text === none ? none : parse(text);
const upTo = (max: number) => orNone((text) => integer(text, 1, max));

export const defaultOptions = {
  maxAttempts: () =>
    new Option("--max-attempts <n>", `Attempts from 1 to ${limits.attempts_max}; none for the system's`).argParser(
      upTo(limits.attempts_max),
    ),
  backoff: () =>
    new Option("--backoff <kind:base[:max]>", "Backoff in seconds, such as exponential:5:600 or fixed:10").argParser(
      orNone(parseBackoff),
    ),
  timeout: () => new Option("--timeout <seconds>", "Timeout of an attempt").argParser(upTo(limits.timeout_seconds_max)),
  retention: () =>
    new Option("--retention <seconds>", "How long finished jobs are kept").argParser(upTo(limits.kept_seconds_max)),
  resultTtl: () =>
    new Option("--result-ttl <seconds>", "How long results are kept").argParser(upTo(limits.kept_seconds_max)),
};

/** Only what was given. */
export function defaultFields(flags: DefaultFlags): QueueDefaultsInput {
  const { maxAttempts, backoff, timeout, retention, resultTtl } = flags;
  const fields = {
    max_attempts: maxAttempts,
    backoff,
    timeout_seconds: timeout,
    retention_seconds: retention,
    result_ttl_seconds: resultTtl,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value === none ? null : value]],
    ),
  );
}

/** @example defaultsText({ max_attempts: 3, timeout_seconds: 60 }); // "3 attempts, timeout 60 s" */
export function defaultsText(defaults: QueueDefaultsInput): string {
  const { max_attempts, backoff, timeout_seconds, retention_seconds, result_ttl_seconds } = defaults;
  const parts = [
    max_attempts && `${max_attempts} attempts`,
    backoff && `${backoff.kind} backoff of ${backoff.base_seconds} s`,
    backoff?.max_seconds !== undefined && `at most ${backoff.max_seconds} s`,
    timeout_seconds && `timeout ${timeout_seconds} s`,
    retention_seconds && `kept for ${retention_seconds} s`,
    result_ttl_seconds && `results for ${result_ttl_seconds} s`,
  ];
  return parts.filter(Boolean).join(", ");
}

function parseBackoff(text: string): Backoff {
  const [, kind, base, max] = /^(exponential|fixed):(\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?$/.exec(text) ?? [];
  // The API checks the numbers.
  if (kind === "exponential" || kind === "fixed")
    return { kind, base_seconds: Number(base), ...(max !== undefined && { max_seconds: Number(max) }) };
  throw new InvalidArgumentError("It must be kind:base or kind:base:max, such as exponential:5:600, or none.");
}
