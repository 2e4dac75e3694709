import { events } from "./events.ts";
import { overviewRoute, series, throughputRoute } from "./series.ts";

/** What happens, now and over time. */
export const statsRoutes = [overviewRoute, series, throughputRoute, events];
