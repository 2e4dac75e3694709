import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { limits, tag as oneTag } from "@atlasqueue/contract";

/** The fields of a job that options can set. */
export type JobFields = {
  queue?: string;
  priority?: number;
  delay_seconds?: number;
  max_attempts?: number;
  expires_in?: number;
  tags?: string[];
};

export type JobFieldFlags = {
  queue?: string | undefined;
  priority?: number | undefined;
  delay?: number | undefined;
  maxAttempts?: number | undefined;
  expiresIn?: number | undefined;
  tag?: string[] | undefined;
};

export const jobFieldOptions = {
  queue: new Option("--queue <name>", 'Queue of the job (default: the API\'s, "default")'),
  priority: new Option(
    "--priority <n>",
    `Priority from ${limits.priority_min} to ${limits.priority_max}, higher first`,
  ).argParser((text) => integer(text, limits.priority_min, limits.priority_max)),
  delay: new Option("--delay <seconds>", "Run the job this many seconds from now").argParser((text) =>
    number(text, 0, limits.delay_seconds_max),
  ),
  maxAttempts: new Option(
    "--max-attempts <n>",
    `Attempts from 1 to ${limits.attempts_max}; the last failure is final`,
  ).argParser((text) => integer(text, 1, limits.attempts_max)),
  expiresIn: new Option("--expires-in <seconds>", "Cancel the job if no attempt has begun by then").argParser((text) =>
    integer(text, 1, limits.expires_in_seconds_max),
  ),
  tag: new Option("--tag <tag>", `Tag of the job; repeat it for up to ${limits.tags_max}`).argParser(
    (text: string, before: string[] | undefined) => [...(before ?? []), parseTag(text)],
  ),
};

/** Of an option that may be repeated. */
export const parseTag = (text: string) => {
  if (!oneTag.safeParse(text).success) throw new InvalidArgumentError(`It must be ${oneTag.description}.`);
  return text;
};

/** Only what was given, so that the API's defaults hold for the rest. */
export function jobFields({ queue, priority, delay, maxAttempts, expiresIn, tag }: JobFieldFlags): JobFields {
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
    ...(delay === undefined ? {} : { delay_seconds: delay }),
    ...(maxAttempts === undefined ? {} : { max_attempts: maxAttempts }),
    ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
    ...(tag === undefined ? {} : { tags: tag }),
  };
}

export function integer(text: string, min: number, max: number): number {
  if (!/^[+-]?\d+$/.test(text)) throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
  return within(Number(text), min, max, "an integer");
}

export function number(text: string, min: number, max: number): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  return within(Number(text), min, max, "a number");
}

function within(value: number, min: number, max: number, what: string): number {
  if (value < min || value > max) throw new InvalidArgumentError(`It must be ${what} from ${min} to ${max}.`);
  return value;
}
