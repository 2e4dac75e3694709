import type { Job } from "@atlasqueue/contract";
import { expect, onTestFinished } from "vitest";
import { otlpReceiver, type OtlpReceiver, type ReceivedSpan } from "@atlasqueue/harness";
import type { Api } from "./system.ts";

/** As curl would send it: the ids of W3C's own example. */
export const begun = { trace_id: "0af7651916cd43dd8448eb211c80319c", span_id: "b7ad6b7169203331" };
export const traceparent = `00-${begun.trace_id}-${begun.span_id}-01`;

/** The settings of a program that exports to this collector. */
export const exporting = (collector: OtlpReceiver) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_METRIC_EXPORT_INTERVAL: "500",
});

/** A collector for the length of a test. */
export async function collect(...handler: Parameters<typeof otlpReceiver>): Promise<OtlpReceiver> {
  const collector = await otlpReceiver(...handler);
  onTestFinished(() => collector.close());
  return collector;
}

export async function submitTraced(api: Api, job: object, headers: Record<string, string>): Promise<Job> {
  const answer = await fetch(`${api.url}/v1/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID(), ...headers },
    body: JSON.stringify(job),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Job;
}

/** Where a span hangs, as its child's says it; and how it is linked to. */
export const childOf = (parent: ReceivedSpan) => ({ trace_id: parent.trace_id, parent_id: parent.span_id });
export const to = ({ trace_id, span_id }: { trace_id: string; span_id: string }) => ({ trace_id, span_id });

/** The ids of all spans on a way from this one along parents and links. */
export function reachable(spans: readonly ReceivedSpan[], from: ReceivedSpan): string[] {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const seen = new Set<string>();
  const open = [from.span_id];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const span = byId.get(id);
    if (span?.parent_id) open.push(span.parent_id);
    for (const link of span?.links ?? []) open.push(link.span_id);
  }
  return [...seen];
}
