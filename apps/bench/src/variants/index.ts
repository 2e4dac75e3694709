import { atlas } from "./atlas.ts";
import { bareHono } from "./bare-hono.ts";
import { bareSql } from "./bare-sql.ts";
import { bullmqPostgres } from "./bullmq-postgres.ts";
import { bullmqDurable, bullmqMemory } from "./bullmq.ts";
import { graphileWorker } from "./graphile-worker.ts";
import { pgBoss } from "./pg-boss.ts";
import type { Variant } from "./variant.ts";

/** In the order in which they take turns and appear in tables. */
export const variants: readonly Variant[] = [
  atlas,
  bullmqMemory,
  bullmqDurable,
  bullmqPostgres,
  pgBoss,
  graphileWorker,
  bareSql,
  bareHono,
];
