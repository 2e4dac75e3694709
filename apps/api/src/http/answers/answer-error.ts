import type { JsonRpcAnswer, ProblemKind } from "@atlasqueue/contract";
import { answerText } from "./answer.ts";
import { answerDetail, isOpenQueuePath } from "./detail.ts";
import type { ApiContext } from "../context.ts";
import { answerProblem, faultText, type ProblemError } from "./problem.ts";

/** JSON-RPC's codes for a text that is not JSON, and for JSON that is no message, such as a batch of the protocol 2025-03-26. */
const rpcCodes: { [kind in ProblemKind]?: number } = { malformed_json: -32_700, validation: -32_600 };

/** The one place where a problem becomes an answer: in the format of its path's surface. */
export function answerError(c: ApiContext, problem: ProblemError): Response {
  if (c.req.path === "/mcp" && isAboutMessage(problem)) return answerRpc(c, problem);
  const answer = isOpenQueuePath(c.req.path) ? answerDetail : answerProblem;
  return answer(c.get("request_id"), problem, c.get("limit_headers"));
}

const isAboutMessage = ({ kind, extras: { errors = [] } }: ProblemError) =>
  rpcCodes[kind] !== undefined && !errors.some(({ pointer }) => pointer.startsWith("query:"));

function answerRpc(c: ApiContext, { kind, message, extras: { errors } }: ProblemError): Response {
  const error = { code: rpcCodes[kind] ?? 0, message: errors?.map(faultText).join("; ") ?? message };
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error } satisfies JsonRpcAnswer);
  return answerText(c.get("request_id"), 400, body, "application/json", c.get("limit_headers"));
}
