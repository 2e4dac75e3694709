import type { Database } from "./database/connect.ts";
import type { Observe } from "./observe/events.ts";

/** What every transition is given. */
export type Deps = { database: Database; observe: Observe };

/** Where jobs live: a tenant's queue. */
export type QueueRef = { tenant: string; queue: string };

export const defaultTenant = "default";
