import { setTimeout as delay } from "node:timers/promises";
import type { History } from "../history/open-history.ts";
import type { Rig } from "./rig.ts";

const rest_ms = 300;

/**
 * Writes down how long commits take, until `over`: on a busy machine they may take longer than a lease, which no fault of
 * ours explains. One that fails says nothing.
 */
export async function watchWrites({ postgres }: Rig, history: History, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const begun = performance.now();
    const took = await postgres
      .asAdmin((sql) => sql`SELECT pg_logical_emit_message(true, 'faults', 'how long a commit takes')`)
      .then(
        () => performance.now() - begun,
        () => undefined,
      );
    if (took !== undefined)
      history.invoke("sample", { of: "write_ms", name: "postgres", value: Math.round(took) }).ok({});
    await delay(rest_ms, undefined, { signal: over }).catch(() => {});
  }
}
