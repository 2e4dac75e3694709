import { pointerSegment, validate, type Fault } from "@atlasqueue/contract";
import type { z } from "zod";
import type { ApiContext } from "../context.ts";
import { isText } from "./percent.ts";
import { invalid, ProblemError } from "../answers/problem.ts";

/**
 * The query by a schema of strings. 422 names each parameter that is wrong, sent twice, or unknown to this route: a
 * misspelled one must not be ignored.
 *
 * @example
 * const { limit } = readQuery(c, listJobsQuery);
 */
export function readQuery<S extends z.ZodObject>(c: ApiContext, schema: S): z.output<S> {
  const given = parameters(c);
  const names = [...new Set(given.map(([name]) => name))];
  const twice = names.filter((name) => given.filter((one) => one[0] === name).length > 1);
  if (twice.length > 0) throw invalid(twice.slice(0, 20).map((name) => fault(name, "was sent more than once")));
  const checked = validate(schema, Object.fromEntries(given));
  if (checked.kind === "valid") return checked.value;
  throw invalid(checked.faults.map(({ pointer, message }) => ({ pointer: `query:${pointer.slice(1)}`, message })));
}

/** 422 for any parameter, on a route that takes none. */
export function refuseQuery(c: ApiContext): void {
  const names = [...new Set(parameters(c).map(([name]) => name))].slice(0, 20);
  if (names.length > 0)
    throw invalid(names.map((name) => fault(name, "is not a parameter of this route, which takes none")));
}

function parameters(c: ApiContext): [name: string, value: string][] {
  const { url } = c.req;
  const at = url.indexOf("?");
  if (at === -1) return [];
  const query = url.slice(at);
  if (query.includes("%") && !isText(query))
    throw new ProblemError("malformed_request", "The query has a % that is not followed by the code of a character");
  return [...new URLSearchParams(query)];
}

function fault(name: string, message: string): Fault {
  return { pointer: `query:${pointerSegment(name)}`, message };
}
