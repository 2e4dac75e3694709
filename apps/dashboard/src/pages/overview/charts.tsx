import { useMemo, useState, type ComponentProps } from "react";
import type { StatsSeries } from "@atlasqueue/contract";
import { lazyPart } from "../../components/lazy-part.tsx";
import { Card } from "../../components/page.tsx";
import { plural, rate, span } from "../../lib/format.ts";
import { ratesOf } from "./figures.ts";

// Drawn after the figures: they are there before its code is.
const Chart = lazyPart(() => import("../../components/chart.tsx"), <div className="chart" />);

const tones = {
  blue: "--blue-mark",
  green: "--green-mark",
  red: "--red-mark",
  violet: "--violet-mark",
  amber: "--amber-mark",
};

/** Throughput, and how long jobs waited and ran. Shared with a queue's own page. */
export function Charts({ series }: { series: StatsSeries }) {
  const { at, flow, wait, run } = useMemo(() => linesOf(series), [series]);
  const { total } = series;
  return (
    <div className="stack">
      <Card title="Throughput" note="jobs a second">
        <Drawn
          label="Jobs a second: in, out and failed attempts"
          at={at}
          lines={flow}
          totals={[plural(total.submitted, "job"), plural(total.succeeded, "job"), plural(total.failed, "attempt")]}
          write={rateTick}
        />
      </Card>
      <div className="grid-2">
        <Percentiles title="Wait" note="from ready to running" at={at} lines={wait} total={total.wait} />
        <Percentiles title="Run" note="of one attempt" at={at} lines={run} total={total.run} />
      </div>
    </div>
  );
}

/** As exact as the lines are: 0.25 between 0 and 0.5, not 0.3. */
const rateTick = (per_second: number) =>
  per_second < 10 ? String(Number(per_second.toPrecision(3))) : rate(per_second);
const spanTick = (ms: number) => (ms === 0 ? "0" : span(ms).replace(/\.0 s$/, " s"));
const [minute_ms, hour_ms, day_ms] = [60_000, 3_600_000, 86_400_000];
const span_steps_ms = (
  [
    [1, [1, 2, 5, 10, 20, 50, 100, 200, 500]],
    [1_000, [1, 2, 5, 10, 20, 30]],
    [minute_ms, [1, 2, 5, 10, 20, 30]],
    [hour_ms, [1, 2, 6, 12]],
    [day_ms, [1, 2, 5, 10, 20]],
  ] as const
).flatMap(([unit_ms, counts]) => counts.map((each) => each * unit_ms));

type Lines = ReturnType<typeof percentileLines>;

function Percentiles({
  title,
  note,
  at,
  lines,
  total,
}: {
  title: string;
  note: string;
  at: readonly number[];
  lines: Lines;
  total: StatsSeries["total"]["wait"];
}) {
  const shown = (ms: number | null) => (ms === null ? "–" : span(ms));
  return (
    <Card title={title} note={note}>
      <Drawn
        label={`${title} times: p50, p95 and p99`}
        at={at}
        lines={lines}
        totals={[shown(total.p99_ms), shown(total.p95_ms), shown(total.p50_ms)]}
        write={spanTick}
        steps={span_steps_ms}
      />
    </Card>
  );
}

type DrawnProps = ComponentProps<typeof Chart> & { totals: readonly string[] };

/** A chart under its legend, whose entries hide and show their lines. */
function Drawn({ lines, totals, ...chart }: DrawnProps) {
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const toggle = (name: string) =>
    setHidden(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const shown = useMemo(() => lines.filter(({ name }) => !hidden.includes(name)), [lines, hidden]);
  return (
    <>
      <div className="chart-legend">
        {lines.map(({ name, color }, at) => (
          <button key={name} type="button" aria-pressed={!hidden.includes(name)} onClick={() => toggle(name)}>
            <svg className="swatch" viewBox="0 0 10 3" aria-hidden="true" data-color={color}>
              <rect width="10" height="3" rx="1.5" />
            </svg>
            {name} <b>{totals[at]}</b>
          </button>
        ))}
      </div>
      <Chart lines={shown} {...chart} />
    </>
  );
}

function linesOf(series: StatsSeries) {
  const rates = ratesOf(series);
  return {
    at: series.items.map((item) => Date.parse(item.at) / 1_000),
    flow: [
      { name: "In", color: tones.blue, values: rates.submitted },
      { name: "Out", color: tones.green, values: rates.succeeded, fill: true },
      { name: "Failed", color: tones.red, values: rates.failed },
    ],
    wait: percentileLines(series.items.map(({ wait }) => wait)),
    run: percentileLines(series.items.map(({ run }) => run)),
  };
}

function percentileLines(items: readonly StatsSeries["total"]["wait"][]) {
  return [
    { name: "p99", color: tones.amber, values: items.map(({ p99_ms }) => p99_ms), wide: true },
    { name: "p95", color: tones.violet, values: items.map(({ p95_ms }) => p95_ms) },
    { name: "p50", color: tones.blue, values: items.map(({ p50_ms }) => p50_ms) },
  ];
}
