import type { Tracing } from "@atlasqueue/contract";
import type { Run, Stages } from "@atlasqueue/runtime";
import type { JobCalls } from "../resources/jobs.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import type { StepCalls } from "../resources/steps.ts";
import type { Observe } from "./events.ts";
import type { HeldJobs } from "./held-jobs.ts";

export type WorkerCalls = LeaseCalls & Omit<StepCalls, "signal"> & Pick<JobCalls, "parents">;

/** What the parts of a remote worker have in common. */
export type WorkerParts = {
  calls: WorkerCalls;
  held: HeldJobs;
  observe: Observe;
  tracing: Tracing | undefined;
  worker_id: string;
  lease_seconds: number;
  types: readonly string[] | undefined;
  stages: Stages;
  /** Starts what was leased by a request sent at `asked_at_ms`; `runs` are those that it goes on with. */
  start(leased: readonly LeasedJob[], asked_at_ms: number, runs?: ReadonlyMap<LeasedJob, Run>): void;
};
