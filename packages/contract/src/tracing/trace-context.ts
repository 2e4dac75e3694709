/** Where a request belongs in a trace: W3C Trace Context, as its two headers have it. */
export type TraceContext = {
  /** `00-{32 hex: trace}-{16 hex: span}-{2 hex: flags}` */
  traceparent: string;
  tracestate: string | null;
};

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The flags of version 00 that are passed on: sampled, and random trace id. */
const known_flags = 0x03;
/** Of a later version only this one is known to mean the same. */
const sampled_flag = 0x01;
const header_chars_max = 512;
const members_max = 32;
const member =
  /^([a-z0-9][_0-9a-z\-*/]{0,255}|[a-z0-9][_0-9a-z\-*/]{0,240}@[a-z][_0-9a-z\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/**
 * The trace context of a request's headers, as W3C Trace Context reads them: undefined when `traceparent` is missing or
 * malformed, for then neither header counts; a malformed `tracestate` is left out alone. A later version of the header is
 * read as far as it is known, and becomes version 00.
 *
 * @example
 * readTraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", undefined)?.traceparent;
 */
export function readTraceContext(
  traceparent: string | null | undefined,
  tracestate: string | null | undefined,
): TraceContext | undefined {
  if (typeof traceparent !== "string" || traceparent.length > header_chars_max) return undefined;
  const [, version = "", trace = "", span = "", flags = "", rest] = traceparentForm.exec(traceparent.trim()) ?? [];
  if (version === "" || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(trace) || /^0+$/.test(span)) return undefined;
  const kept = parseInt(flags, 16) & (version === "00" ? known_flags : sampled_flag);
  return {
    traceparent: `00-${trace}-${span}-${kept.toString(16).padStart(2, "0")}`,
    tracestate: readTracestate(tracestate),
  };
}

/** At most 32 members and 512 characters: the oldest, which are the last, make room. */
function readTracestate(header: string | null | undefined): string | null {
  if (typeof header !== "string" || header.length > 16 * header_chars_max) return null;
  const members = header
    .split(",")
    .map((part) => part.replaceAll(/^[ \t]+|[ \t]+$/g, ""))
    .filter((part) => part !== "");
  const keys = new Set(members.map((part) => part.slice(0, part.indexOf("="))));
  if (members.length > members_max || keys.size < members.length) return null;
  if (!members.every((part) => member.test(part))) return null;
  while (members.join(",").length > header_chars_max) members.pop();
  return members.length === 0 ? null : members.join(",");
}

/** As log lines name it. */
export function traceFields({ traceparent }: Pick<TraceContext, "traceparent">): { trace_id: string; span_id: string } {
  return { trace_id: traceparent.slice(3, 35), span_id: traceparent.slice(36, 52) };
}

/** The trace's own id, by which tools find it: 32 hex digits. */
export function traceIdOf({ traceparent }: Pick<TraceContext, "traceparent">): string {
  return traceparent.slice(3, 35);
}
