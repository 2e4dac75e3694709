import {
  context,
  createTraceState,
  isSpanContextValid,
  metrics,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Counter,
  type Histogram,
  type MeterProvider,
  type Span,
  type SpanContext,
} from "@opentelemetry/api";
import { fewNames } from "../checks/few-names.ts";
import { attribute, measures, other_name, type Measure } from "./conventions.ts";
import type { TraceContext } from "./trace-context.ts";
import type { ChildAttempts, SpanAttributes, SpanWish, TraceSpan, Tracing } from "./tracing.ts";

const scope = "atlasqueue";
const kinds = {
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  server: SpanKind.SERVER,
} as const;

export type OpenTelemetryOptions = {
  /**
   * Which attempts are children of the span that submitted their job, and so in its trace: the first one unless it was
   * delayed, all, or none. The others begin traces of their own. All link to it. Default "first".
   */
  childAttempts?: ChildAttempts;
  /** Whether each job of a batch has a span of its own. Default true. */
  createSpans?: boolean;
};

/**
 * Spans and metrics through `@opentelemetry/api`, for whatever SDK the program has registered, even later. Without one,
 * nothing is made.
 *
 * @example
 * const queue = createQueue({ databaseUrl, tracing: openTelemetry() });
 */
export function openTelemetry({ childAttempts = "first", createSpans = true }: OpenTelemetryOptions = {}): Tracing {
  const tracer = trace.getTracer(scope);
  const measure = createMeasures();
  return {
    child_attempts: childAttempts,
    create_spans: createSpans,
    on: isOn,
    active() {
      const active = trace.getSpanContext(context.active());
      return active && write(active);
    },
    start({ name, kind, parent, links = [], attributes, began_at }: SpanWish): TraceSpan {
      const within = contextOf(parent);
      const span = tracer.startSpan(
        name,
        {
          kind: kinds[kind],
          attributes: given(attributes),
          ...(links.length > 0 && { links: links.map((link) => ({ context: read(link) })) }),
          ...(began_at !== undefined && { startTime: began_at }),
        },
        within,
      );
      return wrap(span, within);
    },
    measure,
  };
}

/** What the API itself puts where no SDK is makes an object for each span. */
function isOn(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(scope) !== undefined;
}

function wrap(span: Span, within: Context): TraceSpan {
  let own: TraceContext | undefined;
  return {
    get context() {
      return (own ??= write(span.spanContext()));
    },
    active: (work) => context.with(trace.setSpan(within, span), work),
    set: (attributes) => void span.setAttributes(given(attributes)),
    rename: (name) => void span.updateName(name),
    end(error) {
      if (error) {
        span.setAttribute(attribute.error_type, error.type);
        span.setStatus({ code: SpanStatusCode.ERROR, ...(error.message && { message: error.message }) });
      }
      span.end();
    },
  };
}

function contextOf(parent: TraceContext | null | undefined): Context {
  if (parent === undefined) return context.active();
  if (parent !== null && isActive(parent)) return context.active();
  const here = trace.deleteSpan(context.active());
  return parent === null ? here : trace.setSpanContext(here, read(parent));
}

/** Then it is a span of this process, which the SDK knows better than by its ids. */
function isActive({ traceparent }: TraceContext): boolean {
  const active = trace.getSpanContext(context.active());
  return active !== undefined && traceparent.slice(3, 52) === `${active.traceId}-${active.spanId}`;
}

/** Run something as if the span of another process were active here. */
export function activeIn<T>(parent: TraceContext, work: () => T): T {
  return context.with(trace.setSpanContext(ROOT_CONTEXT, read(parent)), work);
}

function read({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  return {
    traceId,
    spanId,
    traceFlags: parseInt(flags, 16) || 0,
    isRemote: true,
    ...(tracestate !== null && { traceState: createTraceState(tracestate) }),
  };
}

function write(span: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = span;
  const flags = traceFlags.toString(16).padStart(2, "0");
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: traceState?.serialize() || null };
}

function given(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** The instruments, made when they are first needed and again when another SDK is registered. */
function createMeasures(): Tracing["measure"] {
  let provider: MeterProvider | undefined;
  const made = new Map<Measure, Histogram | Counter>();
  const few = createFewAttributes();
  return (name, value, attributes, tenant = "") => {
    const now = metrics.getMeterProvider();
    if (now !== provider) made.clear();
    provider = now;
    let instrument = made.get(name);
    if (!instrument) made.set(name, (instrument = makeInstrument(now, name)));
    const told = given(few(attributes, tenant));
    if ("record" in instrument) instrument.record(value, told);
    else instrument.add(value, told);
  };
}

/** Each of them makes a series of its own, in memory and at the collector, for as long as the process lives. */
const queues_max = 200;
const errors_max = 50;

/** Queues and errors have names that anybody may make up: of those beyond a tenant's share it only reports that there are others. */
function createFewAttributes(): (attributes: SpanAttributes, tenant: string) => SpanAttributes {
  const of = [
    [attribute.destination, fewNames(queues_max, other_name)],
    [attribute.error_type, fewNames(errors_max, other_name)],
  ] as const;
  return (attributes, tenant) => {
    const few = { ...attributes };
    for (const [name, nameOf] of of) {
      const value = few[name];
      if (typeof value === "string" && value !== other_name) few[name] = nameOf(tenant, value);
    }
    return few;
  };
}

function makeInstrument(provider: MeterProvider, name: Measure): Histogram | Counter {
  const { kind, unit, description, bounds } = measures[name];
  const meter = provider.getMeter(scope);
  if (kind === "counter") return meter.createCounter(name, { unit, description });
  return meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } });
}
