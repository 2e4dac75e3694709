import { idempotencyKeyAccepts, type ProblemKind, type Scope } from "@atlasqueue/contract";
import { z } from "zod";

/** What the OpenAPI document says about one method of one path; the tests of the whole surface walk the same table. */
export type Operation = {
  method: "get" | "post" | "put" | "delete";
  /** As OpenAPI writes it: `/v1/jobs/{id}`. */
  path: `/${string}`;
  /** The operation's name in generated clients. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** What a token needs; without it nobody asks for one. */
  scope?: Scope;
  request?: {
    path?: z.ZodObject;
    query?: z.ZodObject;
    headers?: z.ZodObject;
    /** `example` is in the document, and a test holds it against the schema. */
    body?: { schema: z.ZodType; example: unknown; optional?: true };
  };
  /** OpenQueue tells its errors as `{"detail": …}`; everybody else as problem+json. */
  surface?: "openqueue";
  answers: Partial<Record<number, Answer>>;
  /** The errors it can end in, besides those that every request can. */
  problems: readonly ProblemKind[];
};

/** The body of a request that says everything by its path: many clients send an empty object with every POST. */
export const noBody = {
  schema: z.strictObject({}).describe("empty, or an empty JSON object"),
  example: {},
  optional: true,
} as const;

/** The header of who may have to send a request twice. */
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
