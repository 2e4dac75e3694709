import { lease } from "./lease.ts";
import { releaseLease } from "./release-lease.ts";
import { settleMany } from "./settle-many.ts";
import { ack, heartbeat, nack, release } from "./settle.ts";

/** What a worker in any language needs: lease, ack, nack, release, heartbeat, settle. */
export const leaseRoutes = [lease, ack, nack, release, heartbeat, settleMany, releaseLease];
