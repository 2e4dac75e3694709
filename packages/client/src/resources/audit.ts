import type { AuditPage } from "@atlasqueue/contract";
import type { CallOptions, Send } from "../http/transport.ts";

/** Times are RFC 3339; `cursor` is the page before's `next_cursor`. */
export type AuditFilter = {
  /** Such as "queue.pause". */
  action?: string;
  /** The id of the token that did it. */
  token?: string;
  /** What it was done to: a queue, a schedule, an id. */
  target?: string;
  after?: string;
  before?: string;
  limit?: number;
  cursor?: string;
};

export type AuditCalls = {
  /** Who did what, newest first, a page at a time. A page may be short, and still have a `next_cursor`. */
  audit(filter?: AuditFilter, call?: CallOptions): Promise<AuditPage>;
};

export function auditCalls(send: Send): AuditCalls {
  return {
    async audit(query = {}, call) {
      return (await send({ method: "GET", path: "/v1/audit", query, repeat: "always" }, call)).body as AuditPage;
    },
  };
}
