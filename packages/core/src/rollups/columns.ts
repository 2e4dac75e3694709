/** The columns that are simply added up. */
export const sumColumns = ["submitted", "succeeded", "failed", "dead", "retried"] as const;
const histogramColumns = ["waits", "runs"] as const;

/** What an upsert sets when the row is there: both added up, the histograms bucket by bucket. */
export function mergedInto(known: string): string {
  const sums = sumColumns.map((column) => `${column} = ${known}.${column} + excluded.${column}`);
  const histograms = histogramColumns.map(
    (column) => `${column} = coalesce((
      SELECT array_agg(coalesce(pair.a, 0) + coalesce(pair.b, 0) ORDER BY pair.place)
      FROM unnest(${known}.${column}, excluded.${column}) WITH ORDINALITY AS pair(a, b, place)), '{}')`,
  );
  return [...sums, ...histograms].join(", ");
}
