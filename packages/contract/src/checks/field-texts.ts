import { z } from "zod";

// A field has two texts. `describe` completes the sentence "must be …" of an error. The text here says what the field
// does, for the OpenAPI document.
const texts = z.registry<{ about: string }>();

/**
 * Says what the fields of an object mean. The OpenAPI document shows the texts, with what a field accepts and its
 * default behind them. Fields that are not named keep the text they have.
 *
 * @example
 * const rate = describeFields(z.strictObject({ limit: z.int().describe("an integer") }), { limit: "Jobs a period." });
 */
export function describeFields<S extends z.ZodObject>(schema: S, about: { [Name in keyof S["shape"]]?: string }): S {
  const fields = Object.entries(about as Record<string, string>).map(([name, text]) => {
    const field = schema.shape[name];
    if (!(field instanceof z.ZodType)) throw new Error(`there is no field ${name} to describe`);
    return [name, field.clone().register(texts, { about: text })];
  });
  return schema.extend(Object.fromEntries(fields)) as unknown as S;
}

/** Says what a value means in every field that has no text of its own. */
export function describeValue<S extends z.ZodType>(schema: S, about: string): S {
  const described = schema.clone();
  texts.add(described as z.ZodType, { about });
  return described;
}

/**
 * What a field does, what it accepts, and its default; undefined when it was not described.
 *
 * @example
 * fieldText(submitFields.shape.max_attempts); // "How many times … An integer from 1 to 25. Default 5."
 */
export function fieldText(schema: z.core.$ZodType): string | undefined {
  const about = found(schema, (one) => texts.get(one)?.about);
  if (about === undefined) return undefined;
  const accepts = found(schema, (one) => z.globalRegistry.get(one)?.description);
  const fallback = schema instanceof z.ZodDefault ? ` Default ${JSON.stringify(schema.def.defaultValue)}.` : "";
  return `${about}${accepts === undefined ? "" : ` ${sentence(accepts)}`}${fallback}`;
}

/** Of the schema, or of what it wraps. */
function found(schema: z.core.$ZodType, textOf: (schema: z.core.$ZodType) => string | undefined): string | undefined {
  const inner =
    schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
      ? schema.unwrap()
      : undefined;
  return textOf(schema) ?? (inner && found(inner, textOf));
}

/** @example sentence("an integer from 1 to 25"); // "An integer from 1 to 25." */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
