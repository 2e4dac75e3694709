import { limits } from "@atlasqueue/contract";
import { page_bytes_max } from "../room/page-bytes.ts";

/**
 * How large the payloads of one claim may be together; its first job goes whatever its size. As much as an INSERT
 * takes, and in a small process less, as for a page of jobs.
 */
export const claim_bytes_max = page_bytes_max;

/** This many jobs cannot exceed it, whatever they are. */
export const never_too_heavy = Math.max(1, Math.floor(claim_bytes_max / limits.payload_bytes_max));

/**
 * The size of a payload, without reading one stored outside its row: its size is in the pointer, unless it is
 * compressed.
 */
export const payloadBytes = `CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END`;
