import { migrateDatabase } from "@atlasqueue/core";
import { describe, expect } from "vitest";
import { startSystem } from "../system/system.ts";
import { insist } from "./harness/ask.ts";
import { coreSuite, type Suite } from "./harness/core-suite.ts";
import { startHaproxy, takesWrites } from "./harness/haproxy.ts";
import type { Outage } from "./harness/outage.ts";
import { startPatroni, type Patroni } from "./harness/patroni.ts";
import { startProcesses, type Topology } from "./harness/topology.ts";

type WithPatroni = Topology & { patroni: Patroni };

/** What loses the claims of jobs that are in no group and no limited queue: they are not waited for. */
const reruns = "a job without an order whose claim the new leader never saw may start beside itself";

/** Nothing fences it, as a container has no watchdog: only a client that asks Patroni leaves it. */
const frozen: Outage<WithPatroni> = {
  name: "the leader's Patroni is frozen, and its PostgreSQL goes on",
  prepare: ({ patroni }) => patroni.whole(),
  async fault({ patroni, apis }) {
    const former = await patroni.leader();
    former.freeze();
    await patroni.succeeds(former);
    await insist(apis[0]?.url ?? "", "POST", "/v1/jobs", { body: { type: "noop", queue: "unserved" } });
    former.thaw();
    await patroni.whole();
  },
  reruns,
};

/** Three nodes, found at this address of theirs. */
function keptByPatroni(
  addressOf: (patroni: Patroni) => Promise<{ url: string; stop?(): Promise<void> }>,
  ...more: Outage<WithPatroni>[]
): Suite<WithPatroni> {
  return {
    async start() {
      const [system, patroni] = await Promise.all([startSystem(), startPatroni()]);
      const address = await addressOf(patroni);
      await migrateDatabase(patroni.url);
      const env = { DATABASE_URL: address.url };
      return { ...(await startProcesses(system, { env, beside: [address, patroni] })), patroni };
    },
    outages: [
      { name: "a switchover is ordered", fault: ({ patroni }) => patroni.switchover() },
      {
        name: "the leader's Patroni and PostgreSQL are killed",
        prepare: ({ patroni }) => patroni.whole(),
        async fault({ patroni }) {
          const former = await patroni.leader();
          await former.kill();
          await patroni.succeeds(former);
        },
        reruns,
      },
      {
        name: "the leader is cut off from etcd, and demotes itself",
        prepare: ({ patroni }) => patroni.whole(),
        async fault({ patroni }) {
          const former = await patroni.leader();
          former.etcd.blackhole();
          await patroni.succeeds(former);
          // No watchdog did that: Patroni restarts its PostgreSQL as a standby once it has lost etcd.
          const own = patroni.url.replace(/@[^/]+/, `@127.0.0.1:${former.port}`);
          expect(await takesWrites(own).catch(() => false)).toBe(false);
          former.etcd.heal();
          await patroni.whole();
        },
        reruns,
      },
      ...more,
    ],
  };
}

describe("through a URL that names all three", () => {
  coreSuite(keptByPatroni(async ({ url }) => ({ url })));
});

describe("through HAProxy with the file of the page and Patroni's checks", () => {
  coreSuite(keptByPatroni(startHaproxy, frozen));
});
