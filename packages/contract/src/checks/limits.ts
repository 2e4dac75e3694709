/** Every maximum of the wire format, in one place. Operators may lower the size limits in their configuration. */
export const limits = {
  body_bytes_max: 1_048_576,
  payload_bytes_max: 262_144,
  result_bytes_max: 262_144,
  progress_bytes_max: 16_384,
  progress_note_chars_max: 1_000,
  /** Log lines kept per attempt, the newest. */
  log_lines_max: 100,
  log_line_chars_max: 1_000,
  error_chars_max: 4_096,
  error_data_bytes_max: 16_384,
  /** For a request with error texts, of which `error_chars_max` each are kept. */
  error_body_bytes_max: 16_777_216,
  /** Of a job: steps, and bytes of their results together. The same for the signals it is sent. */
  steps_max: 1_000,
  steps_bytes_max: 4_194_304,
  signals_max: 1_000,
  signals_bytes_max: 4_194_304,
  /** Names of signals that a job may ever wait for. */
  waits_max: 1_000,
  step_name_chars_max: 128,
  /** What comes with a lease; the rest is read on its own. */
  leased_steps_bytes_max: 262_144,
  signal_wait_seconds_min: 1,
  signal_wait_seconds_max: 31_536_000,
  json_depth_max: 64,
  /** In one body. Keys take far longer to read than their size suggests. */
  json_keys_max: 20_000,
  /** In one body, keys and list items together. */
  json_values_max: 100_000,
  batch_items_max: 1_000,
  /** Of what one handler adds, as JSON: less than one message of an isolated one may have. */
  spawned_chars_max: 15_728_640,
  /** What a line of a stream may have besides its payload, blanks and escapes included. */
  line_envelope_bytes_max: 65_536,
  /** Shown of a line that is refused. */
  line_faults_max: 5,
  /** In one batch, or added by one job as it ends. No chain in it is longer than the batch has jobs. */
  flow_edges_max: 10_000,
  ref_chars_max: 128,
  /** Parents that come with a job, and the bytes of their results together; then, those that are listed at once. */
  parents_shown_max: 100,
  parents_shown_bytes_max: 262_144,
  parents_listed_max: 1_000,
  /** What a handler may have in memory of its parents' results. */
  parents_read_chars_max: 67_108_864,
  bulk_ids_max: 1_000,
  /** Per tenant, not yet at their end. Replays are among them. */
  operations_max: 20,
  replay_rate_min: 0.1,
  replay_rate_max: 10_000,
  search_chars_max: 200,
  list_items_max: 200,
  list_items_default: 50,
  queues_listed_max: 1_000,
  flows_listed_max: 50,
  flows_listed_default: 20,
  /** Queues one listener to events may follow by name. */
  event_queues_max: 100,
  list_offset_max: 10_000,
  wait_seconds_max: 30,
  lease_seconds_max: 3_600,
  lease_seconds_default: 30,
  lease_jobs_max: 100,
  /** Of one request for jobs, or one worker. */
  lease_types_max: 100,
  worker_id_chars_max: 256,
  concurrency_max: 100_000,
  rate_jobs_max: 1_000_000,
  rate_seconds_min: 0.1,
  rate_seconds_max: 86_400,
  type_chars_max: 128,
  /** Of a job. */
  tags_max: 8,
  tag_chars_max: 64,
  queue_chars_max: 128,
  group_chars_max: 256,
  unique_key_chars_max: 256,
  unique_window_seconds_max: 31_536_000,
  token_name_chars_max: 128,
  /** Valid tokens per tenant. */
  tokens_max: 200,
  token_seconds_max: 315_360_000,
  token_overlap_seconds_max: 2_592_000,
  token_overlap_seconds_default: 86_400,
  schedule_name_chars_max: 128,
  cron_chars_max: 256,
  timezone_chars_max: 64,
  /** Per tenant. */
  schedules_max: 1_000,
  idempotency_key_chars_max: 512,
  request_id_chars_max: 128,
  priority_min: -1_000,
  priority_max: 1_000,
  attempts_max: 25,
  delay_seconds_max: 31_536_000,
  timeout_seconds_max: 86_400,
  expires_in_seconds_max: 31_536_000,
  backoff_seconds_max: 31_536_000,
  /** A job after its end, and its result. */
  kept_seconds_max: 315_360_000,
} as const;
