import { enqueueJob, enqueueJobBatch } from "./operate/enqueue.ts";
import { cancelFlow, enqueueFlow, retryFlow } from "./operate/flows.ts";
import { cancelJob, retryJob } from "./operate/jobs.ts";
import { pauseQueue, resumeQueue } from "./operate/queues.ts";
import { replayDead } from "./operate/replay-dead.ts";
import { getJobAttempts } from "./read/attempts.ts";
import { listDead } from "./read/dead.ts";
import { getFlow, listFlows } from "./read/flows.ts";
import { explainJob, getJobDetails, getJobStatus, listJobs } from "./read/jobs.ts";
import { getQueueStats, listQueues } from "./read/queues.ts";
import { listSchedules } from "./read/schedules.ts";
import { getThroughput } from "./read/throughput.ts";
import { listWorkers } from "./read/workers.ts";
import type { Tool } from "./tool.ts";
import { heartbeat, leaseJob } from "./work/lease.ts";
import { ackJob, nackJob, releaseJob } from "./work/settle.ts";

/** Every tool, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  getJobStatus,
  getJobDetails,
  getJobAttempts,
  explainJob,
  listJobs,
  listQueues,
  getQueueStats,
  getThroughput,
  listDead,
  listWorkers,
  listSchedules,
  listFlows,
  getFlow,
  enqueueJob,
  enqueueJobBatch,
  enqueueFlow,
  cancelJob,
  retryJob,
  cancelFlow,
  retryFlow,
  replayDead,
  pauseQueue,
  resumeQueue,
  leaseJob,
  ackJob,
  nackJob,
  releaseJob,
  heartbeat,
];
