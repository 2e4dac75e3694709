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
type CellDeps = Deps & SharedServices & { signal: Signal; isRefused?: () => boolean };

/** Rejects if the tenant is being moved, or its cell is not known or was never reached. */
export type CellOf = (tenant: string) => Promise<CellDeps>;

/** What the process gives the API: settings, and services that live as long as the process. */
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
    /** Whether another database uses this Redis. Then every request but probes gets 503. */
    isRefused?: () => boolean;
    /** The URL of a trace, with `{trace_id}` in it. Default: no link. */
    trace_url_template?: string | undefined;
    /** Default: no one may provision tenants. */
    admin_secret?: string | undefined;
  };

/** What every handler gets: the services, and what the app creates itself. */
export type RouteDeps = Services & {
  logger: Logger;
  /** Bounds the requests in flight. */
  gate: Gate;
  /** Bounds the searches under way. */
  searches: Gate;
  cursors: Cursors;
  access: Access;
  /** Writes the audit log. */
  auditor: Auditor;
  /** Whether PostgreSQL and Redis respond. */
  readiness: ReturnType<typeof createReadiness>;
  docs: Docs;
  /** Permits for `POST /admin/provision` and `POST /v1/session`, per network. */
  networkPermits: ReturnType<typeof localPermits>;
};
