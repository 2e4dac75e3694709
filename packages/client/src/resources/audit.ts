import type { AuditPage } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

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

export type AuditCalls = ReturnType<typeof auditCalls>;

export const auditCalls = (ask: Ask) => ({
  /** Who did what, newest first, a page at a time. A page may be short, and still have a `next_cursor`. */
  audit: (query: AuditFilter = {}, call?: CallOptions): Promise<AuditPage> => ask("GET", ["audit"], call, { query }),
});
