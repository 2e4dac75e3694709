import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SeverityNumber,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Logger,
} from "@opentelemetry/api";
import type { LogTap } from "@atlasqueue/core";

const severities: Record<string, SeverityNumber> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Log lines as records: `msg` is the body, the rest attributes, `trace_id` and `span_id` what they belong to. */
export function createLogTap(logger: Logger): LogTap {
  return {
    fields() {
      const span = trace.getSpanContext(context.active());
      // A new object each time: the logger writes the line's own fields into it.
      return span && isSpanContextValid(span) ? { trace_id: span.traceId, span_id: span.spanId } : {};
    },
    line(text) {
      const { level, time, msg, service: _service, trace_id, span_id, ...rest } = parse(text);
      logger.emit({
        timestamp: typeof time === "string" ? new Date(time) : new Date(),
        severityNumber: severities[String(level)] ?? SeverityNumber.INFO,
        severityText: String(level).toUpperCase(),
        body: typeof msg === "string" ? msg : text.trimEnd(),
        attributes: attributesOf(rest),
        context: contextOf(trace_id, span_id),
      });
    },
  };
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function attributesOf(fields: Record<string, unknown>): Attributes {
  const flat = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    flat.map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : (value as string)]),
  );
}

function contextOf(trace_id: unknown, span_id: unknown): Context {
  if (typeof trace_id !== "string" || typeof span_id !== "string") return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId: trace_id, spanId: span_id, traceFlags: TraceFlags.SAMPLED });
}
