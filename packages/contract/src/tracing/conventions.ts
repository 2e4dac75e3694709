// OpenTelemetry's Semantic Conventions 1.45.0, the part about messaging, whose status is still "development". Copied, as
// the package that has them says of these that they may change in any release:
// https://github.com/open-telemetry/semantic-conventions/tree/v1.45.0/docs/messaging

/** Names of attributes. Ours begin with `atlasqueue.` See core's decisions/2026-11-22-traces.md. */
export const attribute = {
  batch_count: "messaging.batch.message_count",
  client_id: "messaging.client.id",
  destination: "messaging.destination.name",
  message_id: "messaging.message.id",
  operation: "messaging.operation.name",
  operation_type: "messaging.operation.type",
  system: "messaging.system",
  error_type: "error.type",
  database_system: "db.system.name",
  database_operation: "db.operation.name",
  database_collection: "db.collection.name",
  database_batch: "db.operation.batch.size",
  job_type: "atlasqueue.job.type",
  attempt: "atlasqueue.job.attempt",
  /** What became of a submission: created, or answered with another job. */
  outcome: "atlasqueue.submission.outcome",
} as const;

export const messaging_system = "atlasqueue";
export const postgresql = "postgresql";
/** `error.type` of what has no name of its own, and what stands for names that are too many. */
export const other_name = "_OTHER";

const duration_bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Metrics of the conventions; durations in seconds. */
export const measures = {
  "messaging.client.operation.duration": {
    kind: "histogram",
    unit: "s",
    bounds: duration_bounds,
    description: "Duration of an operation that a producer or consumer began",
  },
  "messaging.process.duration": {
    kind: "histogram",
    unit: "s",
    bounds: duration_bounds,
    description: "Duration of a handler",
  },
  "messaging.client.sent.messages": {
    kind: "counter",
    unit: "{message}",
    bounds: undefined,
    description: "Jobs that were submitted, or attempted to be",
  },
  "messaging.client.consumed.messages": {
    kind: "counter",
    unit: "{message}",
    bounds: undefined,
    description: "Jobs that were delivered to a worker",
  },
  "http.server.request.duration": {
    kind: "histogram",
    unit: "s",
    bounds: duration_bounds,
    description: "Duration of a request to the API",
  },
} as const;
export type Measure = keyof typeof measures;

type Operation = { type: string; kind: "client" | "consumer" | "producer"; duration: Measure; counts?: Measure };

/** What is done with jobs, by the name that spans begin with. */
export const operations = {
  create: { type: "create", kind: "producer", duration: "messaging.client.operation.duration" },
  send: {
    type: "send",
    kind: "producer",
    duration: "messaging.client.operation.duration",
    counts: "messaging.client.sent.messages",
  },
  receive: {
    type: "receive",
    kind: "client",
    duration: "messaging.client.operation.duration",
    counts: "messaging.client.consumed.messages",
  },
  process: { type: "process", kind: "consumer", duration: "messaging.process.duration" },
  ack: { type: "settle", kind: "client", duration: "messaging.client.operation.duration" },
  nack: { type: "settle", kind: "client", duration: "messaging.client.operation.duration" },
} as const satisfies Record<string, Operation>;
export type OperationName = keyof typeof operations;
