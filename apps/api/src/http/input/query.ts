import { pointerSegment, validate, type Fault } from "@atlasqueue/contract";
import type { z } from "zod";
import type { ApiContext } from "../context.ts";
import { isText } from "./path.ts";
import { invalid, ProblemError } from "../answers/problem.ts";

/** More than any route has; each of them is looked at, and named when it is wrong. */
const parameters_max = 100;

/**
 * The query by a schema of strings. 422 names each parameter that is wrong, sent twice, or unknown to this route: a
 * misspelled one must not be ignored.
 *
 * @example
 * const { limit } = readQuery(c, listJobsQuery);
 */
export function readQuery<S extends z.ZodObject>(c: ApiContext, schema: S): z.output<S> {
  const given = parameters(c);
  const named = new Map(given);
  if (named.size < given.length) throw invalid(repeated(given).map((name) => fault(name, "was sent more than once")));
  const checked = validate(schema, Object.fromEntries(named));
  if (checked.kind === "valid") return checked.value;
  throw invalid(checked.faults.map(({ pointer, message }) => ({ pointer: `query:${pointer.slice(1)}`, message })));
}

/** The first twenty names that come more than once. */
function repeated(given: readonly [name: string, value: string][]): string[] {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const [name] of given) (seen.has(name) ? again : seen).add(name);
  return [...again].slice(0, 20);
}

function parameters(c: ApiContext): [name: string, value: string][] {
  const { url } = c.req;
  const at = url.indexOf("?");
  if (at === -1) return [];
  const query = url.slice(at);
  if (query.includes("%") && !isText(query))
    throw new ProblemError("malformed_request", "The query has a % that is not followed by the code of a character");
  const given = [...new URLSearchParams(query)];
  if (given.length > parameters_max)
    throw new ProblemError("malformed_request", `The query may have ${parameters_max} parameters at most`);
  return given;
}

function fault(name: string, message: string): Fault {
  return { pointer: `query:${pointerSegment(name)}`, message };
}
