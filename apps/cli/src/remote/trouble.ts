import { NetworkError, TimeoutError, type AtlasQueueError } from "@atlasqueue/client";
import { plain } from "../output/plain.ts";

const reason_chars_max = 500;

/** The API's refusal, in one line that starts with its status. */
export function troubleOf(error: AtlasQueueError, url: string, token?: string | undefined): string {
  if (error instanceof NetworkError) {
    const reason = error.message.replace(/^[^:]*: /, "").replace(/^fetch failed: /, "");
    return `${url} cannot be reached (${reason}); is AtlasQueue running there?`;
  }
  const { status, problem } = error;
  if (status === undefined || !problem) return plain(error.message);
  const faults = (problem.errors ?? []).map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  const said = plain(`${status} ${faults || problem.detail || problem.title}`).slice(0, reason_chars_max);
  return status === 401 && token === undefined ? `${said}; set ATLASQUEUE_TOKEN` : said;
}

/** Whether the refusal is not about the request itself: the same one may be accepted later. */
export function mayComeLater(error: AtlasQueueError): boolean {
  return error instanceof NetworkError || error instanceof TimeoutError || passing.has(error.status ?? 0);
}

const passing = new Set([425, 429, 502, 503, 504]);
