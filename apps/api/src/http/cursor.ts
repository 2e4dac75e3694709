import { hash } from "node:crypto";
import { ProblemError } from "./problem.ts";

const check_bytes = 4;

/**
 * Where the next page begins, as text that nobody is to take apart: an id with a checksum, so that one that was cut or
 * changed is noticed. It gives no access: the tenant is asked for again with every page.
 */
export function writeCursor(id: string): string {
  const bytes = Buffer.from(id.replaceAll("-", ""), "hex");
  return Buffer.concat([bytes, checkOf(bytes)]).toString("base64url");
}

/** The id in a cursor. Throws a `malformed_request` problem for what is not one of ours. */
export function readCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const id = bytes.subarray(0, 16);
  if (
    bytes.length !== 16 + check_bytes ||
    !checkOf(id).equals(bytes.subarray(16)) ||
    bytes.toString("base64url") !== cursor
  )
    throw new ProblemError("malformed_request", "The cursor must be the next_cursor of a page before this one");
  const hex = id.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const checkOf = (bytes: Uint8Array) => hash("sha256", bytes, "buffer").subarray(0, check_bytes);
