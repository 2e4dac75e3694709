import { httpReceiver, type Answer, type HttpReceiver, type ReceivedRequest } from "./http-receiver.ts";

type Values = Readonly<Record<string, string | number | boolean>>;

export type ReceivedSpan = {
  readonly service: string;
  readonly name: string;
  readonly kind: "client" | "consumer" | "internal" | "producer" | "server";
  readonly trace_id: string;
  readonly span_id: string;
  /** Undefined for the first of a trace. */
  readonly parent_id: string | undefined;
  /** The ids of the spans it links to. */
  readonly links: readonly { readonly trace_id: string; readonly span_id: string }[];
  readonly attributes: Values;
  readonly failed: boolean;
};
export type ReceivedMetric = {
  readonly service: string;
  readonly name: string;
  readonly unit: string;
  readonly kind: "gauge" | "histogram" | "sum";
  readonly points: readonly { readonly attributes: Values; readonly value: number; readonly count: number }[];
};
export type ReceivedLog = {
  readonly service: string;
  readonly body: string;
  readonly severity: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly attributes: Values;
};

export type OtlpReceiver = Pick<HttpReceiver, "url" | "requests" | "close"> & {
  /** All so far, in the order in which they came. */
  spans(): ReceivedSpan[];
  metrics(): ReceivedMetric[];
  logs(): ReceivedLog[];
};

/**
 * A collector: it takes traces, metrics and logs as OTLP sends them over HTTP, and shows those that came as JSON. What
 * comes as protobuf is only in `requests`. A handler may refuse, or never answer.
 *
 * @example
 * const collector = await otlpReceiver();
 * const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
 */
export async function otlpReceiver(
  handler: (request: ReceivedRequest) => Answer | Promise<Answer> = () => ({
    headers: { "content-type": "application/json" },
    body: "{}",
  }),
): Promise<OtlpReceiver> {
  const receiver = await httpReceiver(handler);
  const documents = <T>(path: string): T[] =>
    receiver.requests
      .filter((one) => one.path === path && one.headers["content-type"]?.startsWith("application/json"))
      .map(({ body }) => JSON.parse(body) as T);
  return {
    url: receiver.url,
    requests: receiver.requests,
    close: receiver.close,
    spans: () =>
      documents<Traces>("/v1/traces").flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ resource, scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) => spans.map((span) => readSpan(serviceOf(resource), span))),
        ),
      ),
    metrics: () =>
      documents<Metrics>("/v1/metrics").flatMap(({ resourceMetrics }) =>
        resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
          scopeMetrics.flatMap(({ metrics }) => metrics.map((metric) => readMetric(serviceOf(resource), metric))),
        ),
      ),
    logs: () =>
      documents<Logs>("/v1/logs").flatMap(({ resourceLogs }) =>
        resourceLogs.flatMap(({ resource, scopeLogs }) =>
          scopeLogs.flatMap(({ logRecords }) => logRecords.map((record) => readLog(serviceOf(resource), record))),
        ),
      ),
  };
}

type Attributes = {
  key: string;
  value: { stringValue?: string; intValue?: string | number; doubleValue?: number; boolValue?: boolean };
}[];
type Resource = { attributes: Attributes };
type Ids = { traceId: string; spanId: string };
type Span = Ids & {
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes?: Attributes;
  links?: Ids[];
  status?: { code?: number };
};
type Point = {
  attributes?: Attributes;
  asDouble?: number;
  asInt?: string | number;
  sum?: number;
  count?: string | number;
};
type Metric = Record<"gauge" | "histogram" | "sum", { dataPoints: Point[] } | undefined> & {
  name: string;
  unit?: string;
};
type Log = Partial<Ids> & { body?: { stringValue?: string }; severityText?: string; attributes?: Attributes };
type Traces = { resourceSpans: { resource: Resource; scopeSpans: { spans: Span[] }[] }[] };
type Metrics = { resourceMetrics: { resource: Resource; scopeMetrics: { metrics: Metric[] }[] }[] };
type Logs = { resourceLogs: { resource: Resource; scopeLogs: { logRecords: Log[] }[] }[] };

const kinds = ["internal", "internal", "server", "client", "producer", "consumer"] as const;
const failed_status = 2;

function readSpan(service: string, span: Span): ReceivedSpan {
  return {
    service,
    name: span.name,
    kind: kinds[span.kind] ?? "internal",
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_id: span.parentSpanId || undefined,
    links: (span.links ?? []).map(({ traceId, spanId }) => ({ trace_id: traceId, span_id: spanId })),
    attributes: readValues(span.attributes),
    failed: span.status?.code === failed_status,
  };
}

function readMetric(service: string, metric: Metric): ReceivedMetric {
  const kind = metric.sum ? "sum" : metric.histogram ? "histogram" : "gauge";
  const points = (metric[kind]?.dataPoints ?? []).map((point) => ({
    attributes: readValues(point.attributes),
    value: Number(point.sum ?? point.asDouble ?? point.asInt),
    count: Number(point.count ?? 1),
  }));
  return { service, name: metric.name, unit: metric.unit ?? "", kind, points };
}

function readLog(
  service: string,
  { body, severityText = "", traceId = "", spanId = "", attributes }: Log,
): ReceivedLog {
  return {
    service,
    body: body?.stringValue ?? "",
    severity: severityText,
    trace_id: traceId,
    span_id: spanId,
    attributes: readValues(attributes),
  };
}

function readValues(attributes: Attributes = []): Values {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue ?? "") : Number(intValue)),
    ]),
  );
}

const serviceOf = ({ attributes }: Resource) => String(readValues(attributes)["service.name"]);
