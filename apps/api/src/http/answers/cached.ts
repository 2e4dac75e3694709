import { createHash } from "node:crypto";
import { parseAccept } from "hono/utils/accept";
import { answerText } from "./answer.ts";
import type { ApiContext } from "../context.ts";

/** An answer that is not our JSON. */
export type Text = { body: string; content_type: string; headers?: Record<string, string> };

/**
 * Content that is the same for everyone until the program changes: all answers share its bytes, however slowly they are
 * read. `br` and `gzip` are compressed. Browsers get `html`.
 */
export type Fixed = Pick<Text, "content_type" | "headers"> & {
  etag: string;
  bytes: Uint8Array;
  br?: Uint8Array;
  gzip?: Uint8Array;
  html?: Fixed;
};

/** @example const page = fixed("<!doctype html>…", "text/html; charset=utf-8"); */
export function fixed(body: string | Uint8Array, content_type: string, headers: Record<string, string> = {}): Fixed {
  const etag = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return { bytes: typeof body === "string" ? Buffer.from(body) : body, content_type, headers, etag };
}

/**
 * The content with its ETag, or 304 when the client has it. `no-cache`: it is stored but revalidated each time, so that
 * no browser mixes the files of two versions.
 */
export function answerFixed(c: ApiContext, found: Fixed, cache = "no-cache", status = 200): Response {
  const is_page = found.html !== undefined && c.req.header("accept")?.includes("text/html");
  const file = (is_page && found.html) || found;
  const encoding = encodingOf(c, file);
  const etag = `"${file.etag}${encoding === undefined ? "" : `-${encoding}`}"`;
  const same = status === 200 && namesTag(c.req.header("if-none-match"), etag);
  const bytes = (encoding && file[encoding]) ?? file.bytes;
  return answerText(c.get("request_id"), same ? 304 : status, same ? null : bytes, file.content_type, {
    ...file.headers,
    ...(found.html && { vary: "accept" }),
    ...((file.br ?? file.gzip) && { vary: "accept-encoding" }),
    ...(encoding && { "content-encoding": encoding }),
    "cache-control": cache,
    etag,
  });
}

/** Whether If-None-Match names the tag; proxies that compress make it a weak one. */
function namesTag(header: string | undefined, etag: string): boolean {
  return header?.split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, ""))) ?? false;
}

const encodings = ["br", "gzip"] as const;

/** The smallest form that the request accepts: finer preferences count for nothing, as that is what everyone wants. */
function encodingOf(c: ApiContext, file: Fixed): "br" | "gzip" | undefined {
  const asked = parseAccept(c.req.header("accept-encoding") ?? "");
  // `q=0` is a refusal, and `*` stands for what is not named.
  return encodings.find((name) => file[name] && (asked.find(({ type }) => type === name) ?? asked.find(isAny))?.q);
}

const isAny = ({ type }: { type: string }) => type === "*";
