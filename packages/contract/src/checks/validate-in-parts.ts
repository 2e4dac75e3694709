import type { z } from "zod";
import type { Fault } from "./json.ts";
import { limits } from "./limits.ts";
import { validate, type Checked } from "./validate.ts";

/** Items checked without a rest: a few milliseconds' worth. */
const items_max = 50;
const faults_max = 20;

/**
 * `validate` for a long list, with a rest after every few items: a thousand take tens of milliseconds, in which a server
 * would answer no one. The items of the field `list` are checked on their own, so the schema may have no rule about
 * several of them but their number.
 *
 * @example
 * await validateInParts(submitBatch, body, "jobs", () => new Promise(setImmediate));
 */
export async function validateInParts<S extends z.ZodType>(
  schema: S,
  input: unknown,
  list: string,
  rest: () => Promise<void>,
): Promise<Checked<z.output<S>>> {
  const items = itemsOf(input, list);
  if (items === undefined || items.length <= items_max || items.length > limits.batch_items_max)
    return validate(schema, input);
  const faults: Fault[] = [];
  const checked: unknown[] = [];
  let value: object = {};
  for (let from = 0; from < items.length && faults.length < faults_max; from += items_max) {
    if (from > 0) await rest();
    const part = validate(schema, { ...(input as object), [list]: items.slice(from, from + items_max) });
    if (part.kind === "invalid") faults.push(...part.faults.map((fault) => moved(fault, list, from)));
    else {
      value = part.value as object;
      checked.push(...((value as Record<string, unknown[]>)[list] as unknown[]));
    }
  }
  // Faults outside of the list are found with each part.
  const once = [...new Map(faults.map((fault) => [`${fault.pointer} ${fault.message}`, fault])).values()];
  if (once.length > 0) return { kind: "invalid", faults: once.slice(0, faults_max) };
  return { kind: "valid", value: { ...value, [list]: checked } as z.output<S> };
}

function itemsOf(input: unknown, list: string): unknown[] | undefined {
  if (typeof input !== "object" || input === null || !Object.hasOwn(input, list)) return undefined;
  const items = (input as Record<string, unknown>)[list];
  return Array.isArray(items) ? items : undefined;
}

/** A fault of an item, by its place in the whole list. */
function moved({ pointer, message }: Fault, list: string, by: number): Fault {
  const [, field, place, ...inner] = pointer.split("/");
  if (field !== list || place === undefined) return { pointer, message };
  return { pointer: ["", field, String(Number(place) + by), ...inner].join("/"), message };
}
