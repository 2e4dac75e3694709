// Which tools there are, by the scope that their caller's token needs: written out, so that none gets another by mistake.

export const read = [
  "get_job_status",
  "get_job_details",
  "get_job_attempts",
  "explain_job",
  "list_jobs",
  "list_queues",
  "get_queue_stats",
  "get_throughput",
  "list_dead",
  "list_workers",
  "list_schedules",
  "list_flows",
  "get_flow",
];
export const submit = [
  "enqueue_job",
  "enqueue_job_batch",
  "enqueue_flow",
  "cancel_job",
  "retry_job",
  "cancel_flow",
  "retry_flow",
];
export const work = ["lease_job", "ack_job", "nack_job", "release_job", "heartbeat"];
export const admin = ["replay_dead", "pause_queue", "resume_queue"];

export const scopeOf = (name: string) =>
  read.includes(name) ? "read" : submit.includes(name) ? "submit" : work.includes(name) ? "work" : "admin";
