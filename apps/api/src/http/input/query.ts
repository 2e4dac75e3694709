import { pointerSegment, validate } from "@atlasqueue/contract";
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
  if (named.size < given.length) {
    const again = given.filter(([name], at) => given.findIndex(([other]) => other === name) < at);
    const names = [...new Set(again.map(([name]) => name))].slice(0, 20);
    throw invalid(
      names.map((name) => ({ pointer: `query:${pointerSegment(name)}`, message: "was sent more than once" })),
    );
  }
  const checked = validate(schema, Object.fromEntries(named));
  if (checked.kind === "valid") return checked.value;
  throw invalid(checked.faults.map(({ pointer, message }) => ({ pointer: `query:${pointer.slice(1)}`, message })));
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
