import { hash } from "node:crypto";
import type { DeadPlace } from "@atlasqueue/core";
import { ProblemError } from "./problem.ts";

const check_bytes = 4;
const id_bytes = 16;
const time_bytes = 8;

/**
 * Where the next page begins, as text that nobody is to take apart: an id with a checksum, so that one that was cut or
 * changed is noticed. It gives no access: the tenant is asked for again with every page.
 */
export function writeCursor(id: string): string {
  return seal(bytesOf(id));
}

/** The id in a cursor. Throws a `malformed_request` problem for what is not one of ours. */
export function readCursor(cursor: string): string {
  return idOf(unseal(cursor, id_bytes));
}

/** The same, for pages in the order of death: a time and an id. */
export function writePlace({ dead_us, id }: DeadPlace): string {
  const time = Buffer.alloc(time_bytes);
  time.writeBigUInt64BE(BigInt(dead_us));
  return seal(Buffer.concat([time, bytesOf(id)]));
}

export function readPlace(cursor: string): DeadPlace {
  const bytes = unseal(cursor, time_bytes + id_bytes);
  return { dead_us: Number(bytes.readBigUInt64BE()), id: idOf(bytes.subarray(time_bytes)) };
}

function seal(bytes: Uint8Array): string {
  return Buffer.concat([bytes, checkOf(bytes)]).toString("base64url");
}

function unseal(cursor: string, length: number): Buffer {
  const sealed = Buffer.from(cursor, "base64url");
  const bytes = sealed.subarray(0, length);
  if (
    sealed.length !== length + check_bytes ||
    !checkOf(bytes).equals(sealed.subarray(length)) ||
    sealed.toString("base64url") !== cursor
  )
    throw new ProblemError("malformed_request", "The cursor must be the next_cursor of a page before this one");
  return bytes;
}

const checkOf = (bytes: Uint8Array) => hash("sha256", bytes, "buffer").subarray(0, check_bytes);
const bytesOf = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex");

function idOf(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
