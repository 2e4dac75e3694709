import type { Logger, Signal } from "@atlasqueue/core";
import type { Deps, createReadiness } from "@atlasqueue/core/internal";
import type { EnqueueOptions, localPermits, RemoteSettlementDeps } from "@atlasqueue/core/internal/http";
import type { Auditor } from "../audit/auditor.ts";
import type { Docs } from "../docs/docs.ts";
import type { Access } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import type { Cursors } from "../http/input/cursor.ts";
import type { SharedServices } from "../services.ts";

/** What a cell's requests are given in place of the home cell's. */
export type CellDeps = Deps & SharedServices & { signal: Signal; isRefused?: () => boolean };

/** Rejects if the tenant is being moved, or its cell is not known or was never reached. */
export type CellOf = (tenant: string) => Promise<CellDeps>;

/** What the process that serves the API gives it: settings, and services that live as long as it does. */
export type Services = Deps &
  EnqueueOptions &
  RemoteSettlementDeps &
  SharedServices & {
    signal: Signal;
    /** Which cell has which tenant; default: the home cell has all. */
    cellOf?: CellOf;
    /** What `/metrics` shows. */
    metricsPage(): Promise<string>;
    body_bytes_max: number;
    payload_bytes_max: number;
    /** Whether another database has our Redis: then all but probes is answered with 503. */
    isRefused?: () => boolean;
    /** Where people look at traces, with `{trace_id}` in it; default: nowhere. */
    trace_url_template?: string | undefined;
    /** Default: no one may provision tenants. */
    admin_secret?: string | undefined;
  };

/** What every handler is given: that, and what an app makes itself. */
export type RouteDeps = Services & {
  logger: Logger;
  /** Bounds the requests in flight. */
  gate: Gate;
  /** Bounds the searches under way. */
  searches: Gate;
  cursors: Cursors;
  access: Access;
  /** Keeps what was done. */
  auditor: Auditor;
  /** Whether its servers are there. */
  readiness: ReturnType<typeof createReadiness>;
  docs: Docs;
  /** Permits for `POST /admin/provision`, per network. */
  provisionPermits: ReturnType<typeof localPermits>;
  /** Permits for `POST /v1/session`, per network. */
  signInPermits: ReturnType<typeof localPermits>;
};
