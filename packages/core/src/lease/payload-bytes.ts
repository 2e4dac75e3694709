import { limits } from "@atlasqueue/contract";

/** What the payloads of one claim may weigh together; its first job goes whatever that weighs. As much as an INSERT takes. */
export const claim_bytes_max = 4 * 1_048_576;

/** So many jobs cannot weigh more, whatever they are. */
export const never_too_heavy = Math.floor(claim_bytes_max / limits.payload_bytes_max);

/**
 * What a payload weighs, without reading one that is stored beside its row: its size is in the pointer, unless it is
 * compressed.
 */
export const payloadBytes = `CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END`;
