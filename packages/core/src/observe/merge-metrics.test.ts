import { Counter, Gauge, Registry } from "prom-client";
import { expect, test } from "vitest";
import { mergeMetrics } from "./metrics.ts";

function page(process: string, count: number): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  const registers = [registry];
  new Counter({ name: "done_total", help: "Done", labelNames: ["kind"], registers }).inc({ kind: "a b" }, count);
  registry.registerMetric(new Gauge({ name: "empty", help: "Nothing yet", labelNames: ["kind"], registers: [] }));
  if (process === "1") new Gauge({ name: "load", help: "Load", registers }).set(Number.NaN);
  return registry.metrics();
}

test("pages of several processes become one: each metric once, with the lines of all", async () => {
  expect(mergeMetrics([await page("0", 2), await page("1", 3)])).toBe(
    `# HELP done_total Done
# TYPE done_total counter
done_total{kind="a b",process="0"} 2
done_total{kind="a b",process="1"} 3

# HELP empty Nothing yet
# TYPE empty gauge

# HELP load Load
# TYPE load gauge
load{process="1"} Nan
`,
  );
});

test("a single page stays as it is, and of none there is nothing", async () => {
  const one = await page("0", 2);
  expect(mergeMetrics([one]).trim()).toBe(one.trim());
  expect(mergeMetrics([]).trim()).toBe("");
});
