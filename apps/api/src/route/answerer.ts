import { changedJob, jobReceipt } from "@atlasqueue/contract";
import { allows } from "../access/caller.ts";
import { answerEmpty, answerJson, answerText, answerStream, type Stream } from "../http/answers/answer.ts";
import { answerFixed, type Fixed, type Text } from "../http/answers/cached.ts";
import type { ApiContext } from "../http/context.ts";
import type { Answer, Operation } from "./operation.ts";

const receipt = jobReceipt.strip();

/**
 * A token without `read` learns of a job what its own act changed, and nothing that was stored: not by an idempotency key,
 * a unique key or an id that it knows.
 */
function shownOf({ answers }: Operation): (c: ApiContext, body: unknown) => unknown {
  const is_job = Object.values(answers).some((answer) => answer?.schema === changedJob);
  if (!is_job) return (_c, body) => body;
  return (c, body) => {
    const caller = c.get("caller");
    return !caller || allows(caller, "read") ? body : receipt.parse(body);
  };
}

type Chosen = { status: number; body: unknown; headers?: Record<string, string> };

/** How the value an operation's handler returns becomes an answer: the distinctions of `Result`. */
export function answererOf(operation: Operation): (c: ApiContext, result: unknown) => Response {
  const shown = shownOf(operation);
  const [[status, only], ...others] = Object.entries(operation.answers) as [[string, Answer], ...[string, Answer][]];
  if (304 in operation.answers) return (c, result) => answerFixed(c, result as Fixed);
  if (others.length === 0) {
    if (status === "204") return answerEmpty;
    if (only.stream) return (c, result) => answerStream(c, result as Stream);
    if (only.content_type !== undefined)
      return (c, result) => {
        const { body, content_type, headers } = result as Text;
        return answerText(c.get("request_id"), 200, body, content_type, { ...c.get("limit_headers"), ...headers });
      };
    if (!only.headers && !only.some_headers) return (c, body) => answerJson(c, Number(status), shown(c, body));
  }
  return (c, result) => {
    const { status: chosen, body, headers } = result as Chosen;
    return answerJson(c, chosen, shown(c, body), headers);
  };
}
