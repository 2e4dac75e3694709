import { limits } from "@atlasqueue/contract";

/**
 * How large the payloads of one claim may be together; its first job goes whatever its size. As much as an INSERT
 * takes.
 */
export const claim_bytes_max = 4 * 1_048_576;

/** This many jobs cannot exceed it, whatever they are. */
export const never_too_heavy = Math.floor(claim_bytes_max / limits.payload_bytes_max);

/**
 * The size of a payload, without reading one stored outside its row: its size is in the pointer, unless it is
 * compressed.
 */
export const payloadBytes = `CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END`;
