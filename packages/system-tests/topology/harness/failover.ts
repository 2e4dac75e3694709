import { startSystem } from "../../system/system.ts";
import type { Suite } from "./core-suite.ts";
import { startPair, type Pair, type PairOptions } from "@atlasqueue/harness/servers";
import { startProcesses, type Topology } from "./topology.ts";

type WithPair = Topology & { pair: Pair };

/** Where the programs find the pair, and what has to be stopped with it. */
type Address = { url: string; stop?(): Promise<void> };

/** What loses the claims of jobs that are in no group and no limited queue: they are not waited for. */
const reruns = "a job without an order whose claim the other server never saw may start beside itself";

/** A primary and its standby, found at this address of theirs; first the primary is demoted, then the next one is killed. */
export function failover(
  addressOf: (pair: Pair) => Address | Promise<Address>,
  options: PairOptions & { gives_up?: string },
): Pick<Suite<WithPair>, "start" | "outages"> {
  return {
    async start() {
      const system = await startSystem();
      const pair = await startPair(system.servers.postgres, options);
      const address = await addressOf(pair);
      const env = { DATABASE_URL: address.url };
      return { ...(await startProcesses(system, { env, beside: [address, pair] })), pair };
    },
    outages: [
      { name: "the primary is demoted", fault: ({ pair }) => pair.demote() },
      {
        name: "the primary is killed",
        prepare: ({ pair }) => pair.refill(),
        fault: ({ pair }) => pair.kill(),
        reruns,
        ...(options.gives_up !== undefined && { gives_up: options.gives_up }),
      },
    ],
  };
}
