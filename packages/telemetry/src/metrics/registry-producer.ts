import type { HrTime } from "@opentelemetry/api";
import { emptyResource, type Resource } from "@opentelemetry/resources";
import type { CollectionResult, MetricProducer } from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import { convert } from "./convert.ts";

/**
 * The metrics of `/metrics` for the SDK's reader, as `atlasqueue.…`: they are counted once, however many ways they go.
 * Those of Node itself are left to the SDK's own instrumentation.
 */
export function registryProducer(
  resource: Resource = emptyResource(),
): MetricProducer & { add(registry: Registry): void } {
  const registries: Registry[] = [];
  const began = hrTime();
  return {
    add: (registry) => void registries.push(registry),
    async collect(): Promise<CollectionResult> {
      const errors: unknown[] = [];
      const read = registries.map(async (registry) => {
        try {
          return (await registry.getMetricsAsJSON()) as MetricObjectWithValues<MetricValue<string>>[];
        } catch (error) {
          // The database may be away, which some gauges ask.
          errors.push(error);
          return [];
        }
      });
      const metrics = (await Promise.all(read)).flat().flatMap((one) => convert(one, began, hrTime()) ?? []);
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: "atlasqueue" }, metrics }] }, errors };
    },
  };
}

function hrTime(): HrTime {
  const now = Date.now();
  return [Math.floor(now / 1_000), (now % 1_000) * 1_000_000];
}
