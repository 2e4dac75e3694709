import { readTraceContext, type TraceContext } from "@atlasqueue/contract";
import { sharedRedis } from "@atlasqueue/core/internal";
import { forTenant, type ActRow } from "@atlasqueue/core/internal/http";
import type { Hono } from "hono";
import { audited, withRefusals } from "../audit/audited.ts";
import { guardOf } from "../access/guard.ts";
import { chargeMore } from "../access/charge.ts";
import { createDelivery } from "../http/answers/delivery.ts";
import { unavailable } from "../http/answers/problem.ts";
import type { ApiContext, ApiEnv, Caller } from "../http/context.ts";
import type { Stream } from "../http/answers/answer.ts";
import type { Weigh } from "../http/gate.ts";
import { networkOf } from "../http/input/address.ts";
import { answererOf } from "./answerer.ts";
import type { Call } from "./call.ts";
import type { CellOf, RouteDeps } from "./deps.ts";
import { itselfOf } from "./itself.ts";
import { homeTags, probeTag, type Stated } from "./operation.ts";
import { readerOf, type Input } from "./read.ts";
import type { Route } from "./route.ts";

/** Put routes into an app. */
export function addRoutes(app: Hono<ApiEnv>, routes: readonly Route[], deps: RouteDeps): void {
  for (const one of routes) {
    const { method, path } = one.operation;
    app.on(method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, ":$1"), serve(one, deps, app));
  }
}

/**
 * The path of a request: let in, counted among those in flight, read, charged for, handled, answered.
 */
function serve(
  { operation, handle, guard }: Route,
  deps: RouteDeps,
  app: Hono<ApiEnv>,
): (c: ApiContext) => Promise<Response> {
  const letIn = guard ?? guardOf(operation);
  const read = readerOf(operation, deps);
  const answer = answererOf(operation);
  const goes_on = Object.values(operation.answers).some((one) => one?.stream);
  const kind = operation.gate === "lease" ? "first" : "rest";
  const line = operation.gate === "lease" ? "lease" : "rest";
  const reads = operation.method === "get";
  const permitsOf = operation.permits as ((body: unknown) => number) | undefined;
  // The reader has checked the call against this very operation.
  const run = handle as (call: Call<Stated>) => unknown;

  const shared = new WeakMap<Caller, RouteDeps>();
  /** Statements take turns with those of other tenants. A read is dropped if its caller hangs up while it waits for its turn. */
  const depsOf = (caller: Caller | undefined, where: RouteDeps, gone?: () => AbortSignal): RouteDeps => {
    if (!caller) return where;
    const shares = !gone && where === deps;
    const known = shares ? shared.get(caller) : undefined;
    const own = known ?? { ...where, database: forTenant(where.database, { tenant: caller.tenant, gone, line }) };
    if (shares) shared.set(caller, own);
    return own;
  };

  const placed = async (c: ApiContext, cellOf: CellOf): Promise<RouteDeps> => {
    const tenant = c.get("caller")?.tenant;
    if (tenant === undefined || homeTags.has(operation.tag)) return deps;
    const cell = await cellOf(tenant);
    if (cell.isRefused?.()) throw unavailable(sharedRedis);
    return { ...deps, ...cell };
  };

  const work = async (c: ApiContext, input: Input): Promise<Response> => {
    if (permitsOf) await chargeMore(c, deps.access, permitsOf(input.body));
    const at = deps.cellOf ? await placed(c, deps.cellOf) : deps;
    const delivery = createDelivery(c, deps.access.authenticator.watch);
    const caller = c.get("caller");
    const trace = traceOf(c, deps);
    // No getters: an object with closures for them has a shape of its own, which keeps the request until the next full
    // garbage collection.
    const call: Call<Stated> & { caller: Caller | undefined; tenant: string | undefined } = {
      ...(input as Pick<Call<Stated>, keyof Input>),
      deps: depsOf(caller, at, reads ? delivery.hungUp : undefined),
      caller,
      tenant: caller?.tenant,
      trace,
      repeated: undefined,
      context: c,
      itself: () => itselfOf(c, app, trace),
      hungUp: delivery.hungUp,
    };
    const runOnce = (repeated: ActRow | undefined) => {
      call.repeated = repeated;
      return run(call);
    };
    // Anything else that was done is answered, though the token has ended meanwhile.
    const refusal = () => (reads || operation.hands_over ? delivery.refusal() : undefined);
    try {
      const value = await (operation.audit ? audited(c, operation, input, deps.auditor, runOnce) : run(call));
      const refused = refusal();
      if (refused) throw refused;
      const response = answer(c, value);
      if (call.repeated) response.headers.set("idempotency-replayed", "true");
      const end = () => (value as Stream).end(delivery.refusal());
      if (goes_on) delivery.hungUp().addEventListener("abort", end, { once: true });
      else delivery.over();
      return response;
    } catch (error) {
      delivery.over();
      throw refusal() ?? error;
    }
  };

  const letInAndWork = async (c: ApiContext): Promise<Response> => {
    await letIn(c, deps);
    const readAndWork = async (weigh: Weigh) => work(c, await read(c, weigh));
    const holder = c.get("caller")?.tenant ?? `network ${networkOf(c)}`;
    return deps.gate.hold(holder, readAndWork, kind, operation.gate !== "own");
  };

  return (c) => {
    if (operation.tag !== probeTag && !deps.cellOf && deps.isRefused?.()) throw unavailable(sharedRedis);
    const answered = operation.audit
      ? withRefusals(c, operation, deps.auditor, () => letInAndWork(c))
      : letInAndWork(c);
    // Nobody else knows of it once its caller has hung up.
    deps.underWay.add(answered);
    return answered;
  };
}

/** A malformed header is as good as none, as W3C Trace Context says. */
function traceOf(c: ApiContext, { tracing }: RouteDeps): TraceContext | undefined {
  if (tracing?.on()) return tracing.active();
  const traceparent = c.req.header("traceparent");
  return traceparent === undefined ? undefined : readTraceContext(traceparent, c.req.header("tracestate"));
}
