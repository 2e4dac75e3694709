import { createMetrics } from "@atlasqueue/core";
import { addServerGauges } from "@atlasqueue/core/internal";
import { addFleetGauges } from "@atlasqueue/core/internal/http";
import { code } from "./table.ts";

type Metric = { name: string; help: string; labelNames?: readonly string[] };

/** Ours; those that begin with `process_` and `nodejs_` are prom-client's. */
function metricsOf(): Metric[] {
  const { registry } = createMetrics({ workerSlots: 1 });
  // They ask for values only when the page is read.
  type Deps = Parameters<typeof addServerGauges>[1];
  const database = { timeout_ms: 1_000 } as Deps["database"];
  addServerGauges(registry, { database, signal: {} as Deps["signal"] });
  addFleetGauges(registry, { database });
  const all = registry.getMetricsAsArray() as unknown as Metric[];
  return all
    .filter(({ name }) => name.startsWith("atlasqueue_"))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export function metricList(): string {
  return metricsOf()
    .map(({ name, help, labelNames = [] }) => {
      const labels = labelNames.length === 0 ? "" : ` Labels: ${labelNames.map(code).join(", ")}.`;
      return `- ${code(name)}: ${help}.${labels}`;
    })
    .join("\n");
}
