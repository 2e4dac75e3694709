import { lease } from "./lease.ts";
import { releaseLease, ack, heartbeat, nack, release } from "./settle.ts";
import { settleMany } from "./settle-many.ts";

/** What a worker in any language needs: lease, ack, nack, release, heartbeat, settle. */
export const leaseRoutes = [lease, ack, nack, release, heartbeat, settleMany, releaseLease];
