import { answerDetail, isOpenQueuePath } from "../openqueue/errors.ts";
import type { ApiContext } from "./context.ts";
import { answerProblem, type ProblemError } from "./problem.ts";

/** The one place where a problem becomes an answer: in the format of the surface that its path belongs to. */
export function answerError(c: ApiContext, problem: ProblemError): Response {
  const request_id = c.get("request_id");
  return isOpenQueuePath(c.req.path) ? answerDetail(request_id, problem) : answerProblem(request_id, problem);
}
