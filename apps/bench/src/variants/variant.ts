import type { Ours } from "./ours.ts";
import type { BenchQueue, ServerUrls } from "./queue.ts";

export type { BenchQueue, Payload, ServerUrls } from "./queue.ts";

export type Variant = {
  /** As in `--variant` and in the JSON. */
  name: string;
  /** As in tables and the chart. */
  title: string;
  /** "ours", another queue, or the same work without a queue's software. */
  kind: "ours" | "peer" | "bare";
  /** Where the jobs are stored. */
  store: "postgres" | "redis" | "redis, durable" | "none";
  /** The part of the jobs it gets: a slow one shows its rate with fewer, and a run stays short. */
  share: number;
  open(servers: ServerUrls): Promise<BenchQueue>;
  /** `POST /v1/jobs` in its own process, for those that have it. */
  serve?(servers: ServerUrls): Promise<{ url: string; pid: number; stop(): Promise<void> }>;
  /** What only this system can do. */
  ours?: Ours;
};
