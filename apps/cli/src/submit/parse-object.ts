import type { Json, JsonObject } from "@atlasqueue/contract";
import { InvalidArgumentError } from "@commander-js/extra-typings";

/** An option's JSON object. */
export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError(`must be a JSON object; got ${JSON.stringify(text)}`);
}

/** An option's JSON, whatever it is. */
export function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new InvalidArgumentError(`must be JSON, with a text in double quotes; got ${JSON.stringify(text)}`);
  }
}
