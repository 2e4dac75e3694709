import { useMemo } from "react";
import { Cron } from "croner";
import { exact } from "../../lib/format.ts";

const runs_shown = 5;
const dates = new Map<string, Intl.DateTimeFormat>();

/** The next five runs, as one types. The API has the last word: it also knows what clocks that change do. */
export function Preview({ cron, timezone }: { cron: string; timezone: string }) {
  const { runs, fault } = useMemo(() => nextRuns(cron, timezone), [cron, timezone]);
  return (
    <div className="preview" role="status">
      <span className="label">Next runs</span>
      {fault === undefined ? (
        <ol>
          {runs.map((at) => (
            <li key={at.getTime()} className="num" title={`${exact(at)} here`}>
              {inZone(at, timezone)}
            </li>
          ))}
        </ol>
      ) : (
        <span className="fault">{fault}</span>
      )}
    </div>
  );
}

function nextRuns(cron: string, timezone: string): { runs: Date[]; fault?: string } {
  try {
    if (cron.trim().split(/\s+/).length !== 5) return { runs: [], fault: "Five fields: minute hour day month weekday" };
    const runs = new Cron(cron.trim(), { timezone, mode: "5-part", legacyMode: true }).nextRuns(runs_shown);
    return runs.length === 0 ? { runs, fault: "It never fires" } : { runs };
  } catch (error) {
    return { runs: [], fault: error instanceof Error ? error.message : String(error) };
  }
}

function inZone(at: Date, timezone: string): string {
  let format = dates.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: timezone,
      weekday: "short",
      day: "2-digit",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
    dates.set(timezone, format);
  }
  return format.format(at);
}
