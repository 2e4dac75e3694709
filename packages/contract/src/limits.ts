/** Every maximum of the wire format, in one place. Operators may lower the size limits in their configuration. */
export const limits = {
  body_bytes_max: 1_048_576,
  payload_bytes_max: 262_144,
  result_bytes_max: 262_144,
  error_chars_max: 4_096,
  json_depth_max: 64,
  type_chars_max: 128,
  queue_chars_max: 128,
  idempotency_key_chars_max: 512,
  request_id_chars_max: 128,
  priority_min: -1_000,
  priority_max: 1_000,
  attempts_max: 25,
  delay_seconds_max: 31_536_000,
  timeout_seconds_max: 86_400,
  backoff_seconds_max: 31_536_000,
} as const;
