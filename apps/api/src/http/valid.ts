import { validate } from "@atlasqueue/contract";
import type { z } from "zod";
import { invalid } from "./problem.ts";

/** What a schema makes of the input; 422 for what it refuses, with everything that is wrong. */
export function valid<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const checked = validate(schema, input);
  if (checked.kind === "invalid") throw invalid(checked.faults);
  return checked.value;
}
