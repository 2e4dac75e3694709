import { cpuOf, type Costs } from "../costs/costs.ts";
import { formatFigure, formatNumber, table } from "./format.ts";
import type { Row } from "./result.ts";

const cost_columns = ["CPU, µs a job", "client", "PostgreSQL", "Redis", "waited, µs", "WAL, bytes", "fsyncs, 1,000"];

/** A scenario that several variants were measured in: a line for each, with how many times faster ours is. */
export function comparedWithCosts(rows: readonly Row[], titles: Readonly<Record<string, string>>): string {
  const ours = rows.find(({ variant }) => variant === "atlasqueue");
  const lines = rows.map(({ variant, unit, median, costs }) => [
    titles[variant] ?? variant,
    formatFigure(median, unit),
    ours && variant !== "atlasqueue" ? (ours.median / median).toFixed(2) : "",
    ...costCells(costs?.median),
  ]);
  return table(["", "a second", "AtlasQueue ÷ it", ...cost_columns], lines, true);
}

/** What only one variant was measured in: a line per figure. */
export function aloneWithCosts(rows: readonly Row[]): string {
  const lines = rows.map(({ scenario, unit, median, costs }) => [
    scenario,
    formatFigure(median, unit),
    ...costCells(costs?.median),
  ]);
  return table(["", "a second", ...cost_columns], lines, true);
}

function costCells(costs: Costs | undefined): string[] {
  if (!costs) return cost_columns.map(() => "–");
  const { client_us, postgres_us, redis_us, waited_us, wal_bytes, wal_fsyncs } = costs;
  return [
    formatNumber(cpuOf(costs)),
    formatNumber(client_us),
    formatNumber(postgres_us),
    formatNumber(redis_us),
    formatNumber(waited_us),
    formatNumber(wal_bytes),
    wal_fsyncs === undefined ? "–" : formatNumber(wal_fsyncs * 1_000),
  ];
}
