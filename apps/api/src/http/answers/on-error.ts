import { isUnavailable, type Logger, type Observe } from "@atlasqueue/core";
import { isLocked } from "@atlasqueue/core/internal";
import { CellUnavailableError } from "@atlasqueue/core/internal/cells";
import {
  CallerGoneError,
  cameAfterAPart,
  hadNoRoom,
  isReadOnly,
  LeaseTokenUsedError,
  outcomeUnknown,
  StorageFullError,
  TooManyQueuesError,
} from "@atlasqueue/core/internal/http";
import { routePath } from "hono/route";
import { type ApiContext, senderOf } from "../context.ts";
import { internal, ProblemError, temporary, unavailable, answerProblem, faultText } from "./problem.ts";
import type { JsonRpcAnswer, ProblemKind } from "@atlasqueue/contract";
import { answerText } from "./answer.ts";
import { answerDetail, isOpenQueuePath } from "./detail.ts";

/** PostgreSQL's codes for a character that the database's encoding lacks, or that no text may have. */
const unstorable_text = new Set<unknown>(["22P05", "22021"]);

/** The one place that turns what was thrown into an answer. */
export function answerErrors(deps: { observe: Observe; logger: Logger }) {
  return (error: Error, c: ApiContext): Response => {
    // No one reads it, and it counts as no failure: the status under which nginx logs it.
    if (error instanceof CallerGoneError) return new Response(null, { status: 499 });
    return answerError(c, problemOf(deps, error, c));
  };
}

/** What the client learns of an error. Causes go to the log, never to the client. */
export function problemOf(deps: { observe: Observe; logger: Logger }, error: unknown, c: ApiContext): ProblemError {
  if (error instanceof ProblemError) return error;
  if (hadNoRoom(error)) return cameAfterAPart(error) ? maybeDone(error.message) : noRoom(error);
  if (unstorable_text.has((error as { code?: unknown } | undefined)?.code))
    return new ProblemError("validation", "The database cannot store a character of the request");
  if (error instanceof TooManyQueuesError) return temporary("too_many_queues", error.message, unused_queues_seconds);
  if (error instanceof StorageFullError) return temporary("storage_full", error.message, storage_seconds);
  if (error instanceof LeaseTokenUsedError)
    return new ProblemError(
      "lease_token_used",
      `lease_token was used ${error.message} before. Repeat a request unchanged, and make a fresh UUID for each new one.`,
    );
  if (error instanceof CallerGoneError) return unavailable("The caller hung up");
  if (error instanceof CellUnavailableError) return unavailable(error.message);
  if (isUnavailable(error)) {
    const during = `${c.req.method} ${routePath(c, -1)}`;
    deps.observe({ event: "database_unavailable", during, error: textOf(error as Error) });
    const detail = isLocked(error) ? locked : isReadOnly(error) ? readOnly : "The database did not answer";
    return outcomeUnknown(error) ? maybeDone(detail) : unavailable(detail);
  }
  deps.logger.error({ event: "http_error", ...senderOf(c), err: error }, "http_error");
  return internal();
}

/** How often unused queues are forgotten about, and what a tenant stores is looked at. */
const [unused_queues_seconds, storage_seconds] = [60, 10];

/** Says what is full, and whether the caller's own requests fill it. */
const noRoom = ({ message, share }: { message: string; share?: boolean }) =>
  temporary(share ? "share_used" : "no_room", message);

const locked = "Another transaction has what it needs locked; try again";
const readOnly = "The database is read-only: it takes no writes";
/** In words too: OpenQueue's errors have nothing else. */
const maybeDone = (detail: string) => unavailable(`${detail}; it, or a part of it, may have been done`, true);

/** A failed connection to several addresses has a code and no message. */
function textOf(error: Error & { code?: unknown }): string {
  return error.message || String(error.code);
}

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
