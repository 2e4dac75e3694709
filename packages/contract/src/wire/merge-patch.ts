import type { Json, JsonObject } from "../checks/json.ts";

/**
 * A JSON merge patch (RFC 7396) applied to a value, which is not changed: null removes a field, an object goes into the
 * one that is there, anything else takes its place.
 *
 * @example
 * mergePatch({ to: "a", cc: "b" }, { to: "c", cc: null }); // { to: "c" }
 */
export function mergePatch(value: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  // Entries rather than assignments: a field may be called __proto__.
  const merged = new Map<string, Json>(isObject(value) ? Object.entries(value) : []);
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name) ?? null, change));
  }
  return Object.fromEntries(merged);
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
