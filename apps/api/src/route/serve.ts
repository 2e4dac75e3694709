import type { Hono } from "hono";
import { guardOf } from "../access/guard.ts";
import { chargeMore } from "../access/charge.ts";
import { createDelivery, type Delivery } from "../http/answers/delivery.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import { holderOf } from "../http/input/holder.ts";
import { answererOf } from "./answerer.ts";
import type { Call } from "./call.ts";
import type { RouteDeps } from "./deps.ts";
import type { Operation } from "./operation.ts";
import { readerOf, type Input } from "./read.ts";
import type { Route } from "./route.ts";

/** Put routes into an app. */
export function addRoutes(app: Hono<ApiEnv>, routes: readonly Route[], deps: RouteDeps): void {
  for (const one of routes) {
    const { method, path } = one.operation;
    app.on(method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, ":$1"), serve(one, deps));
  }
}

/**
 * The path of a request: let in, read, charged for, counted among those waiting for the database, handled, answered.
 */
function serve({ operation, handle, guard }: Route, deps: RouteDeps): (c: ApiContext) => Response | Promise<Response> {
  const letIn = guard ?? guardOf(operation);
  const read = readerOf(operation, deps);
  const answer = answererOf(operation);
  const permitsOf = operation.permits as ((body: unknown) => number) | undefined;
  // The reader has checked the call against this very operation.
  const run = handle as (call: Call<Operation>) => unknown;

  const finish = async (c: ApiContext, delivery: Delivery, result: Promise<unknown>): Promise<Response> => {
    try {
      return delivery.made(answer(c, await result));
    } catch (error) {
      delivery.failed();
      throw error;
    }
  };

  const work = (c: ApiContext, input: Input): Response | Promise<Response> => {
    const delivery = createDelivery(c);
    const call = callOf(c, input, delivery, deps);
    const result = operation.gate === "own" ? run(call) : call.hold(async () => run(call));
    return result instanceof Promise ? finish(c, delivery, result) : answer(c, result);
  };

  const charged = permitsOf
    ? async (c: ApiContext, input: Input) => {
        await chargeMore(c, deps.access, permitsOf(input.body));
        return work(c, input);
      }
    : work;

  return (c) => after(letIn(c, deps), () => after(read(c), (input) => charged(c, input)));
}

function callOf(c: ApiContext, input: Input, delivery: Delivery, deps: RouteDeps): Call<Operation> {
  const caller = c.get("caller");
  const call: Call<Operation> & { caller: typeof caller; tenant: string | undefined } = {
    deps,
    caller,
    tenant: caller?.tenant,
    path: input.path as Call<Operation>["path"],
    query: input.query as Call<Operation>["query"],
    body: input.body as Call<Operation>["body"],
    bytes: input.bytes,
    idempotency_key: input.idempotency_key as Call<Operation>["idempotency_key"],
    hungUp: delivery.hungUp,
    ifUndelivered: delivery.ifUndelivered,
    hold: (work) => deps.gate.hold(holderOf(c), input.bytes, work),
  };
  return call;
}

/** The next step runs at once if the one before it did: most requests need not wait for a turn of the promise queue. */
function after<T>(
  value: T | Promise<T>,
  step: (value: T) => Response | Promise<Response>,
): Response | Promise<Response> {
  return value instanceof Promise ? value.then(step) : step(value);
}
