import { problems, type Fault, type OpenQueueError } from "@atlasqueue/contract";
import { answerText } from "./answer.ts";
import type { ProblemError } from "./problem.ts";

/** The first segments of OpenQueue's paths. */
const roots = new Set(["jobs", "queues", "dashboard", "admin"]);

/** Whether a path is one of OpenQueue's, even without a route: its clients expect every error in its format. */
export function isOpenQueuePath(path: string): boolean {
  return roots.has(path.split("/", 2)[1] ?? "");
}

/** A problem in OpenQueue's format. Status and headers are those of /v1. */
export function answerDetail(
  request_id: string,
  { kind, message, extras }: ProblemError,
  headers?: Record<string, string>,
): Response {
  // FastAPI, whose format this is, has a list where parts of the request are invalid, and otherwise a sentence.
  const detail = kind === "validation" && extras.errors ? extras.errors.map(showFault) : message;
  const text = JSON.stringify({ detail } satisfies OpenQueueError);
  return answerText(request_id, problems[kind].status, text, "application/json", { ...headers, ...extras.headers });
}

type Detail = Exclude<OpenQueueError["detail"], string>[number];

function showFault({ pointer, message }: Fault): Detail {
  return { loc: locationOf(pointer), msg: message, type: "value_error" };
}

/**
 * @example
 * locationOf("/jobs/0/payload"); // ["body", "jobs", 0, "payload"]
 * locationOf("query:limit");     // ["query", "limit"]
 */
function locationOf(pointer: string): (string | number)[] {
  const [, place, name] = /^(query|path|header):(.*)$/s.exec(pointer) ?? [];
  if (place !== undefined && name !== undefined) return [place, name];
  const segments = pointer.split("/").slice(1);
  return ["body", ...segments.map((one) => (/^\d{1,9}$/.test(one) ? Number(one) : unescaped(one)))];
}

const unescaped = (segment: string) => segment.replaceAll("~1", "/").replaceAll("~0", "~");
