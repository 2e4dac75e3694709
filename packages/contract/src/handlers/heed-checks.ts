import type { z } from "zod";

const heeded = new WeakSet<object>();
/** Looked at in one schema: a lazy one may make up new parts without end. */
const parts_max = 10_000;

/**
 * Lets no rejection of a schema's asynchronous checks go unheard, which would end the process. zod starts the checks of
 * a value together and awaits them one after another: when one rejects it forgets about those behind it. What the
 * parsing ends with stays the same.
 *
 * @example
 * heedChecks(z.number().refine(isKnown).refine(isOpen)); // both ask a server that is away
 */
export function heedChecks(schema: z.core.$ZodType): void {
  // No recursion: a schema may contain itself.
  const left: unknown[] = [schema];
  for (let parts = 0; left.length > 0 && parts < parts_max; parts += 1) {
    const next = left.pop();
    if (typeof next !== "object" || next === null || heeded.has(next)) continue;
    heeded.add(next);
    const { _zod: internals } = next as { _zod?: Internals };
    if (internals) {
      heedOne(internals);
      left.push(internals.def, internals.innerType);
    } else if (Array.isArray(next)) left.push(...next);
    else if (Object.getPrototypeOf(next) === Object.prototype) left.push(...membersOf(next));
  }
}

/** `defaultValue` calls a function of the user's. */
function membersOf(part: object): unknown[] {
  return Object.keys(part).flatMap((key) => (key === "defaultValue" ? [] : [(part as Record<string, unknown>)[key]]));
}

type Internals = { def?: object; innerType?: unknown; check?: (payload: unknown) => unknown };

function heedOne(internals: Internals): void {
  const { check } = internals;
  if (!check) return;
  internals.check = (payload) => {
    const result = check(payload);
    if (result instanceof Promise) result.catch(() => {});
    return result;
  };
}
