import { chance, oneOf } from "@atlasqueue/testing/servers";
import { vi } from "vitest";
import { createClient } from "../../src/index.ts";
import { storms } from "./fortunes.ts";
import type { Verdict } from "./judge.ts";
import { modelApi, newJob } from "./model-api.ts";
import { network, type Fate } from "./network.ts";

const leases_s = [3, 6, 10, 12, 15, 18, 20, 30, 60, 120];
const lost_by: readonly Fate[] = ["swallowed after", "cut after", "page after", "half an answer"];

/**
 * A lease whose answer is lost, with storms while it is given back, by a clock that costs no time. Resolves with what went wrong
 * by the time that it was back, or had ended.
 */
export async function loss(seed: number): Promise<Verdict> {
  const random = chance(seed);
  vi.spyOn(Math, "random").mockImplementation(random);
  const leaseSeconds = oneOf(random, leases_s) ?? 30;
  const fortune = storms({ random, lease_ms: leaseSeconds * 1_000 }, true);
  const began_ms = performance.now();
  const wrong: string[] = [];
  const log = [`a lease of ${leaseSeconds} s`];
  const note = (text: string) => void log.push(`${((performance.now() - began_ms) / 1_000).toFixed(2)} ${text}`);

  let lost_at_ms = Infinity;
  const job = newJob("j", null);
  const api = modelApi([job], {
    ended() {
      note("its lease has ended");
      if (!fortune.excusesUnseen(lost_at_ms)) wrong.push("the lease was not given back until it ended");
    },
  });
  const fateOf = (path: string): Fate => {
    const fate = path.endsWith("/lease") ? (oneOf(random, lost_by) ?? "cut after") : fortune.fateOf(path);
    note(`${path} ${fate}`);
    return fate;
  };
  const lost = () => void (lost_at_ms = performance.now());
  const client = createClient({ url: "http://model", fetch: network(api, random, fateOf, lost), retries: 0 });
  setInterval(() => fortune.turn?.(api), 100);
  let is_asking = true;
  void client.lease("q", { workerId: "w", leaseSeconds }).catch(() => (is_asking = false));
  while (is_asking || job.status === "leased") await vi.advanceTimersByTimeAsync(100);
  vi.clearAllTimers();
  return { wrong, log };
}
