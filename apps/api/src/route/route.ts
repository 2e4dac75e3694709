import type { ApiContext } from "../http/context.ts";
import type { Call, Result } from "./call.ts";
import type { RouteDeps } from "./deps.ts";
import type { Operation } from "./operation.ts";

/** Lets a request in, or throws, before anything of it is read. */
export type Guard = (c: ApiContext, deps: RouteDeps) => void | Promise<void>;

/** One of the API's routes: what is said of it, and what it does. */
export type Route = {
  operation: Operation;
  /** It is given calls that were checked by its own operation, and no others. */
  handle: (call: never) => unknown;
  guard: Guard | undefined;
};

/**
 * The one statement of a route. Who may call it, what a request must look like, what it may use of the process and how
 * its answer is written are decided by the operation, so the handler is only about what the route does. A guard of its
 * own stands in for the scope, where a route asks for something other than a token.
 *
 * @example
 * export const listWorkers = route(
 *   { method: "get", path: "/v1/workers", id: "listWorkers", scope: "read", answers: { 200: { schema: workerList } }, … },
 *   async ({ deps, tenant }) => ({ items: await deps.signal.presence.list(tenant) }),
 * );
 */
export function route<const O extends Operation, const R extends Result<O>>(
  operation: O,
  handle: (call: Call<O>) => R | Promise<R>,
  guard?: Guard,
): Route {
  return { operation, handle, guard };
}
