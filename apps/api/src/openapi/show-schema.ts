import { fieldText, sentence } from "@atlasqueue/contract";
import { z } from "zod";
import type { ZodOpenApiOverride } from "zod-openapi";

/**
 * How zod's JSON Schema is tidied up for people who read it: descriptions say what a field does and takes, a format is enough where
 * zod adds a pattern of three lines, and a number in the query is shown as the number its text becomes.
 */
export const showSchema: ZodOpenApiOverride = ({ zodSchema, jsonSchema, io }) => {
  const { def } = zodSchema._zod;
  if (def.type === "pipe" && io === "input" && def.out instanceof z.ZodNumber) {
    delete jsonSchema.pattern;
    const { $schema: _, ...number } = z.toJSONSchema(def.out);
    Object.assign(jsonSchema, number);
  }
  // Left out by zod where the type changes on the way.
  if (def.type === "default" && io === "input") jsonSchema.default ??= def.defaultValue as typeof jsonSchema.default;
  if (jsonSchema.format === "date-time" || jsonSchema.format === "uuid") delete jsonSchema.pattern;
  // What every integer in JSON is held to.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  const text = fieldText(zodSchema) ?? (jsonSchema.description && sentence(jsonSchema.description));
  if (text) jsonSchema.description = text;
};
