import { idempotencyKeyAccepts, isIdempotencyKey } from "@atlasqueue/contract";

/** 128 random bits in hexadecimal. Not crypto.randomUUID, which browsers withhold from pages without TLS. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A UUID for one request that leases. */
export const randomToken = (): string => randomKey().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/**
 * A key as the header carries it: quoted, so that spaces at its ends and quotes inside count, as they do in a batch.
 * Throws a TypeError for a key that no header can hold.
 */
export function keyHeader(key: string): string {
  if (!isIdempotencyKey(key)) throw new TypeError(`idempotency_key must be ${idempotencyKeyAccepts}`);
  return `"${key.replaceAll(/[\\"]/g, "\\$&")}"`;
}
