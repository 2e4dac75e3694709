import { ValueType, type Attributes, type HrTime } from "@opentelemetry/api";
import { AggregationTemporality, DataPointType, type Histogram, type MetricData } from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue } from "prom-client";

const ours = "atlasqueue_";

/** A metric of the Prometheus registry as OTLP has it; undefined for those that are not ours. */
export function convert(
  metric: MetricObjectWithValues<MetricValue<string>>,
  began: HrTime,
  now: HrTime,
): MetricData | undefined {
  if (!metric.name.startsWith(ours)) return undefined;
  const common = {
    descriptor: {
      ...namesOf(metric.name),
      description: metric.help,
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const point = <T>(attributes: Attributes, value: T) => ({ startTime: began, endTime: now, attributes, value });
  const points = () => metric.values.map(({ labels, value }) => point({ ...labels } as Attributes, value));
  // prom-client's types say a number, its answers a word.
  switch (String(metric.type)) {
    case "counter":
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    case "gauge":
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() };
    case "histogram":
      return {
        ...common,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: histograms(metric.values).map(({ attributes, value }) => point(attributes, value)),
      };
    default:
      return undefined;
  }
}

/** `atlasqueue_job_duration_seconds` is `atlasqueue.job.duration` in seconds. */
function namesOf(name: string): { name: string; unit: string } {
  const bare = name.slice(ours.length).replace(/_total$/, "");
  const seconds = bare.endsWith("_seconds");
  const bytes = bare.endsWith("_bytes");
  const words = bare.replace(/_(seconds|bytes)$/, "").replaceAll("_", ".");
  return { name: `atlasqueue.${words}`, unit: seconds ? "s" : bytes ? "By" : "1" };
}

type Value = MetricValue<string> & { metricName?: string };

/** Prometheus has a value per bucket, cumulative; OTLP one point with the counts of each. */
function histograms(values: readonly Value[]): { attributes: Attributes; value: Histogram }[] {
  const series = new Map<string, { attributes: Attributes; sum: number; count: number; buckets: [number, number][] }>();
  for (const { labels, value, metricName = "" } of values) {
    const { le, ...attributes } = labels as Record<string, string | number>;
    const key = JSON.stringify(attributes);
    const one = series.get(key) ?? { attributes, sum: 0, count: 0, buckets: [] };
    series.set(key, one);
    if (metricName.endsWith("_sum")) one.sum = value;
    else if (metricName.endsWith("_count")) one.count = value;
    else if (le !== undefined && le !== "+Inf") one.buckets.push([Number(le), value]);
  }
  return [...series.values()].map(({ attributes, sum, count, buckets }) => {
    const sorted = buckets.toSorted(([a], [b]) => a - b);
    let before = 0;
    const counts = sorted.map(([, upTo]) => {
      const own = upTo - before;
      before = upTo;
      return own;
    });
    const boundaries = sorted.map(([bound]) => bound);
    return { attributes, value: { buckets: { boundaries, counts: [...counts, count - before] }, sum, count } };
  });
}
