import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@atlasqueue/harness/servers";
import { lease_ms, type Part } from "../rig/cast.ts";
import type { Rig } from "../rig/rig.ts";
import type { Card } from "./card.ts";

const hour_ms = 3_600_000;
const shifted_ms = 10_000;
const exit_ms_max = 20_000;
const up_again_ms_max = 15_000;

const all = (parts: readonly Part[]) => parts.map(({ name }) => name);

/** Until the rig has started it again. */
async function startedAgain({ processes }: Rig, victim: string, before: number | undefined): Promise<void> {
  const pidOf = () => processes.running().find(({ name }) => name === victim)?.pid;
  await eventually(() => pidOf() !== undefined && pidOf() !== before, { timeout_ms: up_again_ms_max });
}

const pidOf = ({ processes }: Rig, victim: string) => processes.running().find(({ name }) => name === victim)?.pid;

/** What happens to one process of the system or of its users. */
export const processCards: readonly Card[] = [
  {
    name: "process-killed",
    victims: all,
    sizes: [0],
    takes_ms: () => 3_000,
    signal: "SIGKILL",
    async play(rig, { victim }) {
      const before = pidOf(rig, victim);
      rig.processes.signal(victim, "SIGKILL");
      await startedAgain(rig, victim, before);
    },
  },
  {
    name: "process-told-to-end",
    victims: all,
    sizes: [0],
    takes_ms: () => 10_000,
    signal: "SIGTERM",
    async play(rig, { victim }) {
      const before = pidOf(rig, victim);
      rig.processes.signal(victim, "SIGTERM");
      const ended = () => pidOf(rig, victim) !== before;
      const inTime = await eventually(ended, { timeout_ms: exit_ms_max }).catch(() => false);
      if (!inTime) rig.processes.signal(victim, "SIGKILL");
      await startedAgain(rig, victim, before);
      return inTime ? undefined : `it did not end within ${exit_ms_max} ms`;
    },
  },
  {
    name: "process-frozen",
    victims: all,
    sizes: [lease_ms / 2, lease_ms, lease_ms * 3],
    takes_ms: (size) => size,
    signal: "SIGSTOP",
    async play({ processes }, { victim, size }) {
      processes.signal(victim, "SIGSTOP");
      try {
        await delay(size);
      } finally {
        processes.signal(victim, "SIGCONT");
      }
    },
  },
  {
    name: "clock-off",
    victims: all,
    sizes: [-hour_ms, hour_ms],
    takes_ms: () => shifted_ms,
    async play({ processes }, { victim, size }) {
      processes.order(victim, { clock_ms: size });
      try {
        await delay(shifted_ms);
      } finally {
        processes.order(victim, { clock_ms: 0 });
      }
    },
  },
  {
    name: "event-loop-blocked",
    victims: all,
    sizes: [lease_ms * 1.2, lease_ms * 2.5],
    takes_ms: (size) => size,
    async play({ processes }, { victim, size }) {
      processes.order(victim, { block_ms: size });
      await delay(size);
    },
  },
];
