import type { TraceContext } from "@atlasqueue/contract";
import type { ActRow } from "@atlasqueue/core/internal/http";
import type { z } from "zod";
import type { Needed } from "../access/caller.ts";
import type { Fixed, Text } from "../http/answers/cached.ts";
import type { Stream } from "../http/answers/answer.ts";
import type { Arriving } from "../http/body/arriving.ts";
import type { ApiContext, Caller } from "../http/context.ts";
import type { RouteDeps } from "./deps.ts";
import type { Itself } from "./itself.ts";
import type { Stated } from "./operation.ts";

/** A request as its handler sees it: let in, and checked against its operation. */
export type Call<O extends Stated> = {
  deps: RouteDeps;
  path: Checked<Requested<O>, "path">;
  query: Checked<Requested<O>, "query">;
  body: Requested<O> extends { body: { lines: true } }
    ? Arriving
    : Requested<O> extends { body: { schema: infer S extends z.ZodType } }
      ? z.output<S>
      : undefined;
  /** The body's size as it was sent. */
  bytes: number;
  /** Where the request belongs in a trace, by its headers or by the span that stands for it. */
  trace: TraceContext | undefined;
  idempotency_key: KeyOf<Requested<O>>;
  /** This very request was carried out before, under this key: that. It must not be done again, only answered. */
  repeated: ActRow | undefined;
  /** The request itself, for routes that ask who is at the other end. */
  context: ApiContext;
  /** This very app, for a route that is built on others. */
  itself(): Itself;
  /** Aborts when the caller hangs up before its whole answer is on its way, or when their token ends. What waits ends then. */
  hungUp(): AbortSignal;
} & (O extends { scope: Needed } ? Known : unknown);

/** For a request that showed what it may do. */
type Known = {
  /** The tenant whose things the request may touch: its caller's. */
  tenant: string;
  caller: Caller;
};

type Requested<O> = O extends { request: infer R } ? R : unknown;
type Checked<R, Part extends string> = R extends Record<Part, infer S extends z.ZodObject> ? z.output<S> : undefined;
type KeyOf<R> = R extends { idempotency_key: "required" }
  ? string
  : R extends { idempotency_key: "optional" }
    ? string | undefined
    : undefined;

/**
 * What a handler returns: just the body when there is a single answer without its own headers, nothing for 204, a
 * cacheable file when there is a 304, text or a stream when the answer is not JSON; otherwise the chosen status with what belongs
 * to it.
 */
export type Result<O extends Stated> = 304 extends keyof O["answers"]
  ? Fixed
  : IsOne<keyof O["answers"]> extends true
    ? OnlyResult<O["answers"][keyof O["answers"]], keyof O["answers"]>
    : Chosen<O["answers"]>;

type OnlyResult<A, Status> = Status extends 204
  ? void
  : A extends { stream: true }
    ? Stream
    : A extends { content_type: string }
      ? Text
      : A extends { headers: object } | { some_headers: object }
        ? { status: Status; body: BodyOf<A> } & HeadersOf<A>
        : BodyOf<A>;

type Chosen<Answers> = {
  [Status in keyof Answers]: { status: Status; body: BodyOf<Answers[Status]> } & HeadersOf<Answers[Status]>;
}[keyof Answers];

type BodyOf<A> = A extends { schema: infer S extends z.ZodType } ? z.output<S> : undefined;

type HeadersOf<A> = A extends { headers: infer H }
  ? { headers: Record<Lowercase<keyof H & string>, string> }
  : A extends { some_headers: infer H }
    ? { headers?: Partial<Record<Lowercase<keyof H & string>, string>> }
    : { headers?: never };

type IsOne<T, All = T> = T extends unknown ? ([All] extends [T] ? true : false) : never;
