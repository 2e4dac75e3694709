import { Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { Durations } from "./durations.ts";

const options = { name: "seconds", help: "Time", labelNames: ["type", "code"] as const, buckets: [0.1, 1, 10] };
const observed: [number, string, number][] = [
  [0.1, "a", 200],
  [0.1001, "a", 200],
  [0, "a", 404],
  [11, "b", 200],
  [10, 'quo"ted\n', 200],
];

test("is read as prom-client's own histogram of the same observations, as text and as objects", async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const seconds = new Durations(options);
  ours.registerMetric(seconds);
  const histogram = new Histogram({ ...options, buckets: [...options.buckets], registers: [theirs] });
  for (const [duration, type, code] of observed) {
    seconds.add(duration, type, code);
    histogram.observe({ type, code }, duration);
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
  const [expected] = await theirs.getMetricsAsJSON();
  const values = expected?.values.map((value) => ({ ...value, exemplar: undefined }));
  expect(await ours.getMetricsAsJSON()).toEqual([{ ...expected, values }]);
});

test("each combination of labels has its total", () => {
  const seconds = new Durations(options);
  for (const [duration, type, code] of observed) seconds.add(duration, type, code);
  expect(seconds.totals()).toMatchObject([
    { labels: { type: "a", code: 200 }, count: 2 },
    { labels: { type: "a", code: 404 }, count: 1 },
    { labels: { type: "b", code: 200 }, count: 1 },
    { labels: { type: 'quo"ted\n', code: 200 }, count: 1 },
  ]);
});
