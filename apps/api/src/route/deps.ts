import type { Metrics, Signal } from "@atlasqueue/core";
import type {
  Deps,
  EnqueueOptions,
  FinishedWaits,
  FollowUps,
  LeaseDesk,
  QueueBound,
  RemoteSettlementDeps,
  Submitter,
} from "@atlasqueue/core/internal";
import type { Access } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import type { Cursors } from "../http/input/cursor.ts";

/** What the process that serves the API gives it: settings, and services that live as long as it does. */
export type Services = Deps &
  EnqueueOptions &
  RemoteSettlementDeps &
  Pick<Metrics, "registry"> & {
    signal: Signal;
    submitter: Submitter;
    queueBound: QueueBound;
    followUps: FollowUps;
    leaseDesk: LeaseDesk;
    finishedWaits: FinishedWaits;
    body_bytes_max: number;
    payload_bytes_max: number;
    /** Default: nobody may provision tenants. */
    admin_secret?: string | undefined;
  };

/** What every handler is given: that, and what an app makes for itself. */
export type RouteDeps = Services & {
  gate: Gate;
  cursors: Cursors;
  access: Access;
};
