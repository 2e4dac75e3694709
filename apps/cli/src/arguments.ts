import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A job's payload on the command line. */
export function parsePayload(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It must be JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidArgumentError("It must be a JSON object.");
}

/** Of an API. */
export function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("It must be a URL such as http://127.0.0.1:8000.");
}
