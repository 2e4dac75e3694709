import { Histogram } from "prom-client";

type LabelValue = string | number;
type Node = { next: Map<LabelValue, Node>; series?: Series };
type Series = { labels: Record<string, LabelValue>; counts: number[]; sum: number; count: number };

export type DurationsOptions<Label extends string> = {
  name: string;
  help: string;
  labelNames: readonly Label[];
  /** Upper bounds in seconds, ascending. */
  buckets: readonly number[];
};

/**
 * A histogram of durations, counted in arrays and handed over when read: an observation of prom-client's own hashes its
 * labels each time, which costs as much as a small handler. Labels are given as values, in the order of their names.
 *
 * @example
 * const seconds = new Durations({ name, help, labelNames: ["job_type", "outcome"], buckets: [0.1, 1, 10] });
 * registry.registerMetric(seconds);
 * seconds.add(duration_ms / 1_000, "mail.send", "succeeded");
 */
export class Durations<Label extends string> extends Histogram<Label> {
  readonly #options: DurationsOptions<Label>;
  readonly #all: Series[] = [];
  // By the first label's value, then the second's …: looking them up one by one needs no key to be put together.
  readonly #root: Node = { next: new Map() };

  constructor(options: DurationsOptions<Label>) {
    super({ ...options, labelNames: [...options.labelNames], buckets: [...options.buckets], registers: [] });
    this.#options = options;
  }

  add(seconds: number, ...values: readonly LabelValue[]): void {
    const { buckets } = this.#options;
    const series = this.#seriesOf(values);
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sum += seconds;
    series.count += 1;
  }

  /** How many there were, for each combination of labels seen. */
  totals(): readonly Pick<Series, "labels" | "count">[] {
    return this.#all;
  }

  override async get(): ReturnType<Histogram<Label>["get"]> {
    const { name, help, buckets } = this.#options;
    const values = this.#all.flatMap(({ labels, counts, sum, count }) => {
      let below = 0;
      const bucketed = buckets.map((le, at) => value(`${name}_bucket`, { le, ...labels }, (below += counts[at] ?? 0)));
      const infinite = value(`${name}_bucket`, { le: "+Inf", ...labels }, count);
      return [...bucketed, infinite, value(`${name}_sum`, labels, sum), value(`${name}_count`, labels, count)];
    });
    // prom-client's types say that `type` is a number; its answers have a word.
    return { name, help, type: "histogram", aggregator: "sum", values } as unknown as Awaited<ReturnType<this["get"]>>;
  }

  /** What the registry asks for instead, where it writes text. */
  getForPromString(): ReturnType<Histogram<Label>["get"]> {
    return this.get();
  }

  #seriesOf(values: readonly LabelValue[]): Series {
    let node = this.#root;
    for (const one of values) {
      let next = node.next.get(one);
      if (!next) node.next.set(one, (next = { next: new Map() }));
      node = next;
    }
    return (node.series ??= this.#begin(values));
  }

  #begin(values: readonly LabelValue[]): Series {
    const { labelNames, buckets } = this.#options;
    const labels = Object.fromEntries(labelNames.map((name, at) => [name, values[at] ?? ""]));
    const series: Series = { labels, counts: [...buckets.map(() => 0), 0], sum: 0, count: 0 };
    this.#all.push(series);
    return series;
  }
}

const value = (metricName: string, labels: Record<string, LabelValue>, count: number) => ({
  metricName,
  labels: labels as never,
  value: count,
});
