import { events } from "./events.ts";
import { overviewRoute } from "./overview.ts";
import { series } from "./series.ts";
import { throughputRoute } from "./throughput.ts";

/** What happens, now and over time. */
export const statsRoutes = [overviewRoute, series, throughputRoute, events];
