import { jobId } from "@atlasqueue/contract";
import { z } from "zod";

/** The path of a route about one job. */
export const jobPath = z.strictObject({ id: jobId });

/** The only answer of a route: what it is, its schema, and an example. */
export const ok = <S extends z.ZodType>(description: string, schema: S, example?: z.output<S>) => ({
  200: { description, schema, ...(example !== undefined && { example }) },
});

/** The same for a route that makes something. */
export const makes = <S extends z.ZodType>(description: string, schema: S, example: z.output<S>) => ({
  201: { description, schema, example },
});

/** The only answer of a route that lists: a page, with an example of an item. */
export const pageOf = <S extends z.ZodType>(
  schema: S,
  item: z.output<S> extends { items: (infer I)[] } ? I : never,
  description = "A page.",
) => ({ 200: { description, schema, example: { items: [item], next_cursor: null } } });

/** Of a list whose pages end early. */
export const shortPage =
  "A page. It may be short, even empty, and still have a `next_cursor`; null means there is no more.";
