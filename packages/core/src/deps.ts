import type { Database } from "./database/connect.ts";
import type { Tracing } from "@atlasqueue/contract";
import type { Observe } from "./observe/events.ts";

/** What every transition is given. Without `tracing` there are no spans, and nothing is asked for their sake. */
export type Deps = { database: Database; observe: Observe; tracing?: Tracing | undefined };

/** Where jobs live: a tenant's queue. */
export type QueueRef = { tenant: string; queue: string };

export const defaultTenant = "default";
