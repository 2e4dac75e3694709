import { events } from "./events.ts";
import { overviewRoute } from "./overview.ts";
import { series, throughputRoute } from "./series.ts";

/** What happens, now and over time. */
export const statsRoutes = [overviewRoute, series, throughputRoute, events];
