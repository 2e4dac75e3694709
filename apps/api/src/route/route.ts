import type { ApiContext } from "../http/context.ts";
import type { Call, Result } from "./call.ts";
import type { RouteDeps } from "./deps.ts";
import type { Operation, Stated } from "./operation.ts";

/** Lets a request in, or throws, before any of it is read. */
export type Guard = (c: ApiContext, deps: RouteDeps) => void | Promise<void>;

/** One of the API's routes: its description, and what it does. */
export type Route = {
  operation: Operation;
  /** It only gets calls that were checked against its own operation. */
  handle: (call: never) => unknown;
  guard: Guard | undefined;
};

/**
 * The one statement of a route. The operation decides who may call it, what a request must look like, what it may use
 * of the process and how its answer is written, so the handler is only about what the route does. Where a route
 * requires something other than a token, its own guard replaces the scope.
 *
 * @example
 * export const listWorkers = route(
 *   { at: "GET /v1/workers", id: "listWorkers", scope: "read", answers: { 200: { schema: workerList } }, … },
 *   async ({ deps, tenant }) => ({ items: await deps.signal.presence.list(tenant) }),
 * );
 */
export function route<const O extends Stated, const R extends Result<O>>(
  operation: O,
  handle: (call: Call<O>) => R | Promise<R>,
  guard?: Guard,
): Route {
  const { at, ...others }: Stated = operation;
  const [method, path] = at.split(" ") as [string, Operation["path"]];
  return { operation: { ...others, method: method.toLowerCase() as Operation["method"], path }, handle, guard };
}
