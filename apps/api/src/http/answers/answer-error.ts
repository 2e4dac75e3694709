import { answerDetail, isOpenQueuePath } from "./detail.ts";
import type { ApiContext } from "../context.ts";
import { answerProblem, type ProblemError } from "./problem.ts";

/** The one place where a problem becomes an answer: in the format of its path's surface. */
export function answerError(c: ApiContext, problem: ProblemError): Response {
  const answer = isOpenQueuePath(c.req.path) ? answerDetail : answerProblem;
  return answer(c.get("request_id"), problem, c.get("limit_headers"));
}
