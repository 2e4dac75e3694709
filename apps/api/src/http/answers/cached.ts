import { createHash } from "node:crypto";
import { answerText } from "./answer.ts";
import type { ApiContext } from "../context.ts";

/** An answer that is not our JSON. */
export type Text = { body: string; content_type: string; headers?: Record<string, string> };

/** Content that is the same for everyone until the program changes: all answers share its bytes, however slowly they are read. Browsers get `html`. */
export type Fixed = Omit<Text, "body"> & { bytes: Uint8Array; etag: string; html?: Fixed };

/** @example const page = fixed("<!doctype html>…", "text/html; charset=utf-8"); */
export function fixed(body: string, content_type: string, headers: Record<string, string> = {}): Fixed {
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return { bytes: Buffer.from(body), content_type, headers, etag };
}

/**
 * The content with its ETag, or 304 when the client has it. `no-cache`: it is stored but revalidated each time, so that
 * no browser mixes the files of two versions.
 */
export function answerFixed(c: ApiContext, found: Fixed): Response {
  const is_page = found.html !== undefined && c.req.header("accept")?.includes("text/html");
  const { bytes, content_type, headers, etag } = (is_page && found.html) || found;
  const same = namesTag(c.req.header("if-none-match"), etag);
  return answerText(c.get("request_id"), same ? 304 : 200, same ? null : bytes, content_type, {
    ...headers,
    ...(found.html && { vary: "accept" }),
    "cache-control": "no-cache",
    etag,
  });
}

/** Whether If-None-Match names the tag; proxies that compress make it a weak one. */
export function namesTag(header: string | undefined, etag: string): boolean {
  return header?.split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, ""))) ?? false;
}
