import type { ApiContext } from "../context.ts";

/** Up to this size an answer takes no more, in whatever writing, than is counted for its connection. */
export const small_chars_max = 4_096;

/**
 * Note what an answer takes until it is read, for `holdUntilRead`: its text, and the bytes that are sent.
 *
 * @example
 * noteUnread(c, JSON.stringify(page));
 */
export function noteUnread(c: ApiContext, text: string): void {
  if (text.length <= small_chars_max) return;
  const bytes = Buffer.byteLength(text);
  // With a character beyond Latin, each takes two bytes in the text.
  c.set("unread_bytes", bytes + (bytes === text.length ? 1 : 2) * text.length);
}
