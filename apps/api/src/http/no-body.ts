import { readJson } from "./body.ts";
import type { ApiContext } from "./context.ts";
import { incomingOf } from "./context.ts";
import { invalid } from "./problem.ts";

const body_bytes_max = 1_024;

/** For a route whose request says everything by its path: no body, or an empty JSON object, as many clients send one. */
export async function requireNoBody(c: ApiContext): Promise<void> {
  const incoming = incomingOf(c);
  const sent = incoming
    ? incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"] ?? 0) > 0
    : c.req.raw.body !== null;
  if (!sent) return;
  const { value } = await readJson(c, body_bytes_max);
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0) return;
  throw invalid([{ pointer: "", message: "must be empty, or an empty JSON object" }]);
}
