import { z } from "zod";
import type { Tool } from "../tools/tool.ts";
import { tools } from "../tools/table.ts";

/** JSON Schema, as tools are described by. */
type JsonSchema = { type: "object"; [key: string]: unknown };

/** A tool as `tools/list` shows it. */
export type DescribedTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
};

function describe({ name, title, description, input, output, hints }: Tool): DescribedTool {
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(input, "input"),
    outputSchema: schemaOf(output, "output"),
    annotations: {
      title,
      readOnlyHint: hints.read_only,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.open_world,
    },
  };
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, {
    io,
    // Custom checks are shown by their `meta`.
    unrepresentable: "any",
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  return shown as JsonSchema;
}

/**
 * What a model need not read, and some hosts cannot: patterns, which the descriptions say in words, and the range every
 * integer in JSON has.
 */
function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/** Made once, when the first caller asks: a server that lives for one request would make them each time. */
export const described: ReadonlyMap<string, DescribedTool> = new Map(tools.map((one) => [one.name, describe(one)]));
