import { describeValue, idempotencyKeyAccepts, type AuditAction, type ProblemKind } from "@atlasqueue/contract";
import { z } from "zod";
import type { Needed } from "../access/caller.ts";
import type { Asked, Told } from "../audit/told.ts";

/**
 * Everything about one method of one path. The router, the request checks, the OpenAPI document and the tests of the
 * whole surface are built from it; the handler beside it, joined by `route`, is what it does.
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
  /** The scope a token needs, or several of which one is enough; without it no token is required. */
  scope?: Needed;
  /** It shows all tenants: the token must be the operator's, of the default tenant. */
  all_tenants?: true;
  request?: {
    path?: z.ZodObject;
    query?: z.ZodObject;
    /** Headers the handler's guard takes care of. The key below is not one of them. */
    headers?: z.ZodObject;
    /**
     * Whether it takes an `Idempotency-Key` header, and whether that is required. One that is kept in the audit trail is
     * done once for a key by that; its handler looks at `repeated` first.
     */
    idempotency_key?: "required" | "optional";
    body?: Body;
  };
  /** Unknown query parameters are let through, where probes and browsers may add some. */
  any_query?: true;
  /** How many permits of the tenant's rate limit a request takes, by its checked body; one by default. */
  permits?: (body: never) => number;
  /**
   * A request counts as in flight from its authentication to its response. "lease": it keeps or ends a lease, and may use
   * the reserved places. "own": the handler counts it itself, as it waits for something else, or for nothing.
   */
  gate?: "lease" | "own";
  /** Of an act that does nothing but hand something over: nothing is done if its answer is not delivered. */
  hands_over?: true;
  /**
   * It is kept in the audit trail, under this name, from before it is done. `asks` adds what its path does not say, by
   * the checked request; false for one that will change nothing. `tells` adds what its result says; undefined when
   * nothing was changed.
   */
  audit?: {
    action: AuditAction;
    asks?: (input: never) => Asked | false;
    tells?: (input: never, result: never) => Told | undefined;
  };
  answers: Partial<Record<number, Answer>>;
  /** The errors it can end in, besides those any request can. */
  problems?: readonly ProblemKind[];
};

/** An operation as its route has it: `at` is its method and its path, such as `GET /v1/jobs/{id}`. */
export type Stated = Omit<Operation, "method" | "path"> & { at: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}` };

type Body = {
  schema: z.ZodType;
  /** It is in the document, and a test checks it against the schema. */
  example: unknown;
  /** For a test that tries it on another tenant's job: one that targets the examples' job, or goes with a key in the header. */
  foreign?: unknown;
  /**
   * Its lines are such JSON each, and the handler reads them while they arrive: `schema` and `example` are those of a
   * line.
   */
  lines?: true;
  /** A missing body is accepted too: see `noBody`. */
  optional?: true;
  /** Its own bound; by default the operator's `BODY_BYTES_MAX`. */
  bytes_max?: number;
};

/** The types of a body of lines; the first is the one to be used. */
export const lineTypes = ["application/x-ndjson", "application/jsonl"] as const;

/** The body of a request whose path says everything: many clients send an empty object with every POST. */
export const noBody = {
  schema: z.strictObject({}).describe("empty, or an empty JSON object"),
  example: {},
  optional: true,
  bytes_max: 1_024,
} as const;

/** The header of a request that may have to be sent twice. */
export const idempotencyKey = describeValue(
  z
    .string()
    .regex(/^ *[!-~][ -~]*$/)
    .describe(`${idempotencyKeyAccepts}; "in quotes", as a structured field, it is the same key`),
  "Makes the request safe to repeat: with the same key it is carried out once.",
);

/** Whether an operation is done once for a key by its entry in the audit trail. */
export const isOncePerKey = ({ audit, request }: Operation): boolean =>
  audit !== undefined && request?.idempotency_key !== undefined;

export type Answer = {
  description: string;
  schema?: z.ZodType;
  /** application/json by default. */
  content_type?: string;
  /** It goes on for as long as the caller listens. */
  stream?: true;
  headers?: Record<string, string>;
  /** Headers that not every such answer has. */
  some_headers?: Record<string, string>;
  example?: unknown;
};

/** The sections of the document, in order. */
export const tags = {
  Jobs: "Submit, read, cancel, retry and delete jobs.",
  Flows: "Jobs that depend on one another. Submit them as a batch.",
  Leases: "Work from any language: lease jobs, extend their leases, and report how they ended.",
  Queues: "Read queues, pause and resume them, and set their limits.",
  "Dead letters": "List, replay and purge jobs that failed for good.",
  Schedules: "Submit jobs by cron, in any time zone.",
  Statistics: "What happens now, and what happened over the last month.",
  Tokens: "Create, rotate and revoke the tokens of your tenant.",
  Audit: "Read the audit log.",
  MCP: "The queue as tools for assistants and editors, by the Model Context Protocol.",
  Session: "For the dashboard: a cookie in place of a token.",
  OpenQueue: 'The wire format of OpenQueue, whose clients work unchanged. Errors are `{"detail": …}`.',
  "Health and metrics":
    "For load balancers, orchestrators and Prometheus. The health checks need no token; with `AUTH=required` `/metrics` does.",
  "API description": "OpenAPI, its reference page, and what each problem means.",
} as const;
type Tag = keyof typeof tags;

/** Of what orchestrators, load balancers and Prometheus ask. */
export const probeTag = "Health and metrics" satisfies Tag;

/** Of what is in the home cell whatever cell has the caller's jobs. */
export const homeTags: ReadonlySet<Tag> = new Set<Tag>(["Tokens", "Session", probeTag]);
