import { problems, problemType, type ProblemKind } from "@atlasqueue/contract";

/** A problem in the API's own words. */
export function problemOf(kind: ProblemKind) {
  const { status, title } = problems[kind];
  return { type: problemType(kind), title, status, detail: title, instance: "1" };
}

/**
 * What the API answers with it.
 *
 * @example
 * const client = createClient({ url, fetch: async () => problemResponse("unavailable") });
 */
export function problemResponse(kind: ProblemKind): Response {
  const problem = problemOf(kind);
  return Response.json(problem, { status: problem.status });
}
