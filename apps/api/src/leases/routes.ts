import { lease } from "./lease.ts";
import { settleMany } from "./settle-many.ts";
import { ack, heartbeat, nack } from "./settle.ts";

/** What a worker in any language needs: lease, ack, nack, heartbeat, settle. */
export const leaseRoutes = [lease, ack, nack, heartbeat, settleMany];
