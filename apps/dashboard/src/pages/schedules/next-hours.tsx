import type { Schedule } from "@atlasqueue/contract";
import { Card } from "../../components/page.tsx";
import { useNow } from "../../lib/clock.ts";
import { clockTime, exact } from "../../lib/format.ts";

const hour_ms = 3_600_000;
const shown_hours = 24;
const lines_max = 12;

/** The runs of the next day on a line each: what fires soon, and what fires together. */
export function NextHours({ of }: { of: readonly Schedule[] }) {
  const now = useNow(60_000);
  const end = now + shown_hours * hour_ms;
  const soon = of
    .filter(({ next_runs: [first] }) => first !== undefined && Date.parse(first) < end)
    .toSorted((a, b) => (a.next_runs[0] ?? "").localeCompare(b.next_runs[0] ?? ""))
    .slice(0, lines_max);
  if (soon.length === 0) return null;
  const hours = [0, 6, 12, 18, 24].map((hour) => now + hour * hour_ms);
  const place = (at: number) => ((at - now) / (end - now)) * 100;
  return (
    <Card title="Next 24 hours" note="the next five runs of each">
      <ol className="next-hours">
        {soon.map(({ name, next_runs }) => (
          <li key={name}>
            <span className="clip">{name}</span>
            <svg
              viewBox="0 0 100 10"
              preserveAspectRatio="none"
              role="img"
              aria-label={`${name} runs ${next_runs.map(clockTime).join(", ")}`}
            >
              <path className="axis" d="M0 5H100" />
              {next_runs
                .filter((at) => Date.parse(at) < end)
                .map((at) => (
                  <path key={at} className="run" d={`M${place(Date.parse(at)).toFixed(2)} 1.5v7`}>
                    <title>{exact(at)}</title>
                  </path>
                ))}
            </svg>
          </li>
        ))}
        <li className="next-hours-scale quiet" aria-hidden="true">
          <span />
          <span className="num">
            {hours.map((at) => (
              <span key={at}>{clockTime(at).slice(0, 5)}</span>
            ))}
          </span>
        </li>
      </ol>
    </Card>
  );
}
