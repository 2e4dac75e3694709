import { faultOfUrl } from "@atlasqueue/client";
import type { JsonObject } from "@atlasqueue/contract";
import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A job's payload on the command line. */
export function parsePayload(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It must be JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new InvalidArgumentError("It must be a JSON object.");
}

/** The URL of an API. */
export function parseUrl(text: string): string {
  const fault = faultOfUrl(text);
  if (fault === undefined) return text;
  throw new InvalidArgumentError(`It must be ${fault}.`);
}
