import type { Measure } from "./conventions.ts";
import type { TraceContext } from "./trace-context.ts";

export type SpanKind = "client" | "consumer" | "producer" | "server";
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

export type SpanWish = {
  name: string;
  kind: SpanKind;
  /** What it is part of. Default: the span that is active here. `null`: nothing, it begins a trace. */
  parent?: TraceContext | null | undefined;
  /** What else it is about. */
  links?: readonly TraceContext[];
  attributes: SpanAttributes;
  /** Milliseconds since 1970. Default: now. */
  began_at?: number | undefined;
};

/** A span under way. */
export type TraceSpan = {
  /** What others name as its parent, or link to; undefined while the SDK suppresses tracing. */
  readonly context: TraceContext | undefined;
  /** Run something on its behalf: spans begun there, then or later, are its children. */
  active<T>(work: () => T): T;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** `error` is the kind of error it ended with, if it did, and goes into `error.type`. */
  end(error?: { type: string; message?: string | undefined }): void;
};

/** Which attempts are children of what submitted their job. All of them link to it. */
export type ChildAttempts = "first" | "all" | "none";

/**
 * Where spans go. The queue itself knows only this; `openTelemetry()` makes one. Wherever it is left out, tracing costs
 * nothing.
 */
export type Tracing = {
  /** Whether anything would come of a span. */
  on(): boolean;
  /** The span that is active here. */
  active(): TraceContext | undefined;
  start(wish: SpanWish): TraceSpan;
  /** Names that a tenant chooses freely are few in what is measured; in spans they are all there. */
  measure(measure: Measure, value: number, attributes: SpanAttributes, tenant?: string): void;
  readonly child_attempts: ChildAttempts;
  /** Whether each job of a batch has a span of its own. */
  readonly create_spans: boolean;
};
