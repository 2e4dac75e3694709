import { AsyncLocalStorage } from "node:async_hooks";
import type { HandlerMiddleware, SubmitMiddleware } from "@atlasqueue/worker";

/** Of the request, or of the job that came from it. */
export const requestId = new AsyncLocalStorage<string>();

/** For `createQueue`: the request's id goes along in the payload. */
export const sendRequestId: SubmitMiddleware = ({ payload }, next) => {
  const id = requestId.getStore();
  if (id !== undefined) payload["request_id"] = id;
  return next();
};

/** For `createWorker`: `requestId.getStore()` has it in the handler, and in all that the handler calls. */
export const enterRequestId: HandlerMiddleware = ({ job, payload }, next) => {
  const { request_id = job.id } = payload as { request_id?: string };
  return requestId.run(request_id, next);
};
