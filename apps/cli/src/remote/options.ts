import { jobId, queueName, stepName } from "@atlasqueue/contract";
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { parseUrl } from "../arguments.ts";

/** Which API a command talks to. The token is not an option: everyone on the machine can see a command line. */
export const urlOption = () =>
  new Option("--url <url>", "Address of the API (default: ATLASQUEUE_URL, or http://127.0.0.1:8000)").argParser(
    parseUrl,
  );
export const jsonOption = () => new Option("--json", "Print the result as one line of JSON").default(false);
export const yesOption = () => new Option("-y, --yes", "Don't ask for confirmation").default(false);

/** One id of several. */
export function parseIds(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), parseId(text)];
}

export function parseId(text: string): string {
  const parsed = jobId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError("It must be a job's id, a UUID.");
}

export function parseQueue(text: string): string {
  if (queueName.safeParse(text).success) return text;
  throw new InvalidArgumentError(`It must be ${queueName.description}.`);
}

export function parseSignal(text: string): string {
  if (stepName.safeParse(text).success) return text;
  throw new InvalidArgumentError(`It must be ${stepName.description}.`);
}

/** One queue of several. */
export function parseQueues(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), parseQueue(text)];
}
