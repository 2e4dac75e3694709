import { problems } from "@atlasqueue/contract";
import { answerJson } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { problemOf, type ErrorDeps } from "../http/on-error.ts";

/** An error as OpenQueue tells it. */
export function answerDetail(
  c: ApiContext,
  status: number,
  detail: string,
  headers?: Record<string, string>,
): Response {
  return answerJson(c, status, { detail }, headers);
}

/** For `onError` of routes that speak OpenQueue's format: the status is that of the problem. */
export function answerDetails(deps: ErrorDeps) {
  return (error: Error, c: ApiContext): Response => {
    const { kind, message, extras } = problemOf(deps, error, c);
    return answerDetail(c, problems[kind].status, message, extras.headers);
  };
}
