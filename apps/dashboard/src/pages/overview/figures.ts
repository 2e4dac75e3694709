import type { Overview, StatsSeries } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { useLive } from "../../api/queries.ts";
import { refresh_ms, slow_refresh_ms } from "../../api/refresh.ts";
import type { Window } from "./window.ts";

export function useOverview() {
  return useLive<Overview>({ key: ["overview"], ask: (signal) => client.stats.overview({ signal }) });
}

export function useSeries(window: Window, queue?: string) {
  return useLive<StatsSeries>({
    key: ["series", window, queue],
    ask: (signal) => client.stats.series({ window, ...(queue === undefined ? {} : { queue }) }, { signal }),
    // A point of a day is a quarter of an hour: it does not move in two seconds.
    every_ms: window === "15m" || window === "1h" ? refresh_ms * 2 : slow_refresh_ms,
    keep: true,
  });
}

/** How long each point of a series has lasted, in seconds: the last one is still under way. */
function seconds(series: StatsSeries): number[] {
  const last = series.items.length - 1;
  return series.items.map(({ at }, index) =>
    index < last ? series.step_seconds : Math.max(1, (Date.parse(series.to) - Date.parse(at)) / 1_000),
  );
}

type Rates = { submitted: number[]; succeeded: number[]; failed: number[] };

/** Jobs a second, point by point. */
export function ratesOf(series: StatsSeries): Rates {
  const lasted = seconds(series);
  const per = (name: keyof Rates) => series.items.map((item, at) => item[name] / (lasted[at] ?? 1));
  return { submitted: per("submitted"), succeeded: per("succeeded"), failed: per("failed") };
}

/** The rates now: over the last two points, as the last has hardly begun and arrives late. */
export function ratesNow(series: StatsSeries): Record<keyof Rates, number> {
  const lasted = seconds(series).slice(-2);
  const all_s = lasted.reduce((sum, each) => sum + each, 0);
  const per = (name: keyof Rates) => series.items.slice(-2).reduce((sum, item) => sum + item[name], 0) / all_s;
  return { submitted: per("submitted"), succeeded: per("succeeded"), failed: per("failed") };
}
