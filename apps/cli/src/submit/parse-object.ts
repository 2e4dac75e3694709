import type { JsonObject } from "@atlasqueue/contract";
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
