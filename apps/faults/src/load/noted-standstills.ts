import type { History } from "../history/open-history.ts";
import type { LoadConfig } from "./config.ts";

/**
 * Writes down each time that this process stood still for a sixth of a lease: on a busy machine it may wait for a processor
 * that long, which no fault of ours explains.
 */
export function noteStandstills(history: History, { process: name, lease_ms }: LoadConfig): void {
  let looked_at = performance.now();
  const look = () => {
    const now = performance.now();
    const ms = Math.round(now - looked_at);
    looked_at = now;
    if (ms > lease_ms / 6) history.invoke("sample", { of: "standstill_ms", name, value: ms }).ok({});
  };
  setInterval(look, lease_ms / 12).unref();
}
