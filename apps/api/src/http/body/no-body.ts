import { bringsBody, readJsonOrNothing } from "./body.ts";
import { incomingOf, type ApiContext } from "../context.ts";
import type { Memory } from "../gate.ts";
import { invalid } from "../answers/problem.ts";

const body_bytes_max = 1_024;

/** For a route whose path says everything: no body, or an empty JSON object, as many clients send one. */
export async function requireNoBody(c: ApiContext, memory: Memory): Promise<void> {
  const body = await readJsonOrNothing(c, body_bytes_max, memory);
  if (body === undefined) return;
  const { value } = body;
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0) return;
  throw invalid([{ pointer: "", message: "must be empty, or an empty JSON object" }]);
}

/** For a route that takes none: what is sent nevertheless is thrown away as it comes, however long the answer takes. */
export function discardBody(c: ApiContext): void {
  const incoming = incomingOf(c);
  if (incoming && bringsBody(incoming.headers)) incoming.resume();
}
