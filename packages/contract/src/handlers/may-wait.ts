import type { z } from "zod";

/** Parts of schemas that never wait for anything: no function of the user's decides whether a value fits. */
const neverWaits = words(
  "any bigint boolean date enum literal nan never null number string symbol template_literal undefined unknown void " +
    "array intersection map object record set tuple union default nonoptional nullable optional prefault readonly",
);
const neverWaitingChecks = words(
  "bigint_format greater_than length_equals less_than max_length max_size min_length min_size multiple_of " +
    "number_format overwrite property size_equals string_format",
);
/** Looked at in one schema: one that makes up its parts may never end. */
const parts_max = 10_000;
const known = new WeakMap<object, boolean>();

/**
 * Whether checking a value may take an asynchronous step. False only for a schema made of nothing but zod's own parts; a
 * function of the user's (`refine`, `transform`, `custom` …) may return a promise, and a lazy schema may turn into
 * anything.
 *
 * @example
 * mayWait(z.object({ to: z.email() })); // false
 * mayWait(z.object({ to: z.email().refine(isKnown) })); // true
 */
export function mayWait(schema: z.core.$ZodType): boolean {
  let answer = known.get(schema);
  if (answer === undefined) known.set(schema, (answer = findWaiting(schema)));
  return answer;
}

function findWaiting(schema: object): boolean {
  // No recursion: a schema may contain itself.
  const left: unknown[] = [schema];
  const seen = new Set<object>();
  while (left.length > 0) {
    if (seen.size > parts_max) return true;
    const next = left.pop();
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    const { _zod: internals } = next as { _zod?: { def: Def } };
    if (internals) {
      if (waits(internals.def)) return true;
      left.push(internals.def);
    } else if (Array.isArray(next)) left.push(...next);
    else if (Object.getPrototypeOf(next) === Object.prototype)
      // `defaultValue` calls a function of the user's, and its value is no schema.
      for (const key of Object.keys(next))
        if (key !== "defaultValue") left.push((next as Record<string, unknown>)[key]);
  }
  return false;
}

type Def = { type?: string; check?: string };

/** A format, such as an email's, is both a type and a check. */
function waits({ type, check }: Def): boolean {
  if (type === undefined && check === undefined) return true;
  return (type !== undefined && !neverWaits.has(type)) || (check !== undefined && !neverWaitingChecks.has(check));
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
