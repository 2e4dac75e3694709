import type { Logger, Signal } from "@atlasqueue/core";
import type { Deps, FollowUps, createReadiness } from "@atlasqueue/core/internal";
import type {
  EnqueueOptions,
  FinishedWaits,
  LiveEvents,
  OverviewReader,
  LongPoll,
  localPermits,
  QueueBound,
  RemoteSettlementDeps,
  StorageQuota,
  Submitter,
} from "@atlasqueue/core/internal/http";
import type { Auditor } from "../audit/auditor.ts";
import type { Docs } from "../docs/docs.ts";
import type { Access } from "../http/context.ts";
import type { JobStreams } from "../jobs/stream/open-streams.ts";
import type { Gate } from "../http/gate.ts";
import type { UnderWay } from "../http/under-way.ts";
import type { Cursors } from "../http/input/cursor.ts";

/** What the process that serves the API gives it: settings, and services that live as long as it does. */
export type Services = Deps &
  EnqueueOptions &
  RemoteSettlementDeps & {
    signal: Signal;
    /** What `/metrics` shows. */
    metricsPage(): Promise<string>;
    submitter: Submitter;
    queueBound: QueueBound;
    storageQuota: StorageQuota;
    followUps: FollowUps;
    longPoll: LongPoll;
    finishedWaits: FinishedWaits;
    liveEvents: LiveEvents;
    jobStreams: JobStreams;
    /** Requests that are not answered yet, and what goes on behind an answer. */
    underWay: UnderWay;
    overviewOf: OverviewReader;
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
