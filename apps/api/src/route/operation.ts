import { idempotencyKeyAccepts, type ProblemKind, type Scope } from "@atlasqueue/contract";
import { z } from "zod";

/**
 * All there is to say about one method of one path. The router, the checks of a request, the OpenAPI document and the
 * tests of the whole surface are made of it; what it does is the handler beside it, put together by `route`.
 */
export type Operation = {
  method: "get" | "post" | "put" | "delete";
  /** As OpenAPI writes it: `/v1/jobs/{id}`. */
  path: `/${string}`;
  /** The operation's name in generated clients. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** What a token needs; without it no token is asked for. */
  scope?: Scope;
  /** It tells of all tenants: the token must be the operator's, of the default tenant. */
  all_tenants?: true;
  request?: {
    path?: z.ZodObject;
    query?: z.ZodObject;
    /** Those of which the handler's guard takes care. The key below is no part of them. */
    headers?: z.ZodObject;
    /** Whether there is a header `Idempotency-Key`, and whether it must be sent. */
    idempotency_key?: "required" | "optional";
    body?: Body;
  };
  /** Parameters of the query that are not known are let pass, where probes and browsers may add some. */
  any_query?: true;
  /** How many permits of the tenant's rate limit a request takes, by its checked body; one where nothing is said. */
  permits?: (body: never) => number;
  /**
   * A request holds a place among those that wait for the database until it is done. With "own" it holds one only where
   * its handler says so (`call.hold`): it waits for something else, or for nothing.
   */
  gate?: "own";
  /** OpenQueue tells its errors as `{"detail": …}`; everything else as problem+json. */
  surface?: "openqueue";
  answers: Partial<Record<number, Answer>>;
  /** The errors it can end in, besides those that every request can. */
  problems: readonly ProblemKind[];
};

export type Body = {
  schema: z.ZodType;
  /** It is in the document, and a test holds it against the schema. */
  example: unknown;
  /** One that reaches for the job of the examples, where `example` does not: a test tries it on another tenant's job. */
  foreign?: unknown;
  /** No body is taken as well: see `noBody`. */
  optional?: true;
  /** A bound of its own; the operator's `BODY_BYTES_MAX` where nothing is said. */
  bytes_max?: number;
  /** So much is taken whatever the operator's bound is. */
  bytes_always?: number;
  /** The depth at which objects have an `error`, whose text may be far longer than what is kept of it. */
  error_at?: number;
};

/** The body of a request that says everything by its path: many clients send an empty object with every POST. */
export const noBody = {
  schema: z.strictObject({}).describe("empty, or an empty JSON object"),
  example: {},
  optional: true,
} as const;

/** The header of a request that may have to be sent twice. */
export const idempotencyKey = z
  .string()
  .regex(/^ *[!-~][ -~]*$/)
  .describe(`${idempotencyKeyAccepts}; "in quotes", as a structured field, it is the same key`);

export type Answer = {
  description: string;
  schema?: z.ZodType;
  /** application/json, unless it is said. */
  content_type?: string;
  headers?: Record<string, string>;
  /** Those that not every such answer has. */
  some_headers?: Record<string, string>;
  example?: unknown;
};

/** The sections of the document, in its order. */
export const tags = {
  Jobs: "Submit jobs, read them, and change their course.",
  Work: "Work from any language: lease jobs, and settle them under their lease's token.",
  Queues: "See how the queues stand, and stop and start them.",
  "Dead letters": "See which jobs died, start them anew, or remove them.",
  Schedules: "Jobs that come back by cron, in any time zone.",
  Tokens: "Make, replace and end the tokens of your tenant.",
  OpenQueue: 'The wire format of OpenQueue, whose clients work unchanged. Errors are `{"detail": …}`.',
  "Health and metrics": "For load balancers, orchestrators and Prometheus. They need no token.",
  "This document": "The description of the API, for programs and for people.",
} as const;
type Tag = keyof typeof tags;
