import { apiSettings } from "@atlasqueue/api";
import { workerSettings } from "@atlasqueue/worker-app";
import { z } from "zod";
import { cliSettings } from "../../cli/src/config.ts";
import { settingTexts } from "./setting-texts.ts";
import { code, table } from "./table.ts";

const programs = [apiSettings, workerSettings, cliSettings].map(({ shape }): Record<string, z.ZodType> => shape);

/** Every environment variable that a program reads. */
const settingNames = [...new Set(programs.flatMap((shape) => Object.keys(shape)))];

/** One table for each group of `setting-texts.ts`. */
export function settingTables(): Record<string, string> {
  const told = Object.values(settingTexts).flatMap((group) => Object.keys(group));
  const faults = [
    ...settingNames.filter((name) => !told.includes(name)).map((name) => `${name} has no text`),
    ...told.filter((name) => !settingNames.includes(name)).map((name) => `${name} is no setting`),
  ];
  if (faults.length > 0) throw new Error(`setting-texts.ts: ${faults.join(", ")}`);
  return Object.fromEntries(
    Object.entries(settingTexts).map(([group, texts]) => [
      `settings-${group}`,
      table(
        ["variable", "default", "values", "what"],
        Object.entries(texts).map(([name, { what, unset }]) => {
          const schemas = programs.map((shape) => shape[name]).filter((found) => found !== undefined);
          const values = new Set(schemas.map((schema) => valuesOf(schema)));
          return [code(name), unset ?? defaultOf(schemas[0]), [...values].join(" or "), what];
        }),
      ),
    ]),
  );
}

function defaultOf(schema: z.ZodType | undefined): string {
  if (!(schema instanceof z.ZodDefault)) return "required";
  const value: unknown = schema.def.defaultValue;
  if (Array.isArray(value)) return value.length === 0 ? "none" : code(value.join(","));
  return code(String(value));
}

/** In a few words, or nothing: an error message has the whole text. */
function valuesOf(schema: z.ZodType | undefined): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return valuesOf(schema.unwrap() as z.ZodType);
  const accepts = schema?.description ?? "";
  const [, least, most] = /^an? (?:integer|number|number of \w+) from ([\d.]+) to ([\d.]+)$/.exec(accepts) ?? [];
  if (least !== undefined) return `${least} to ${most}`;
  return /^(one of|true or false|DEBUG|"disabled")/.test(accepts) && accepts.length <= 40 ? accepts : "";
}
