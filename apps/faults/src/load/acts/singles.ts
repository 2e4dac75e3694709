import { between } from "../chance.ts";
import { queues } from "../kinds.ts";
import { submitOne } from "../submit/submit.ts";
import type { Act, Turn } from "../submit/turn.ts";
import type { Wish } from "../submit/wish.ts";
import { brief, lasting } from "./lasting.ts";

/** What all have in common: each with a key, and expected to succeed. */
const wished = ({ tenant, nonce }: Turn) => ({ tenant, nonce, key: nonce, ends: "succeeded" as const });

/** An act that submits one job, and does no more; `wish` says what is its own. */
const single = (
  name: string,
  weight: number,
  wish: (turn: Turn, lease_ms: number) => Pick<Wish, "kind" | "queue" | "task" | "options">,
): Act => ({
  name,
  weight,
  jobs: 1,
  perform: (world, turn) => submitOne(world, turn, { ...wished(turn), ...wish(turn, world.config.lease_ms) }),
});

const plain = single("plain", 30, ({ random }, lease_ms) => ({
  kind: "plain",
  queue: queues.plain,
  task: lasting(random, lease_ms),
  options: { priority: between(random, -5, 5) },
}));

const delayed = single("delayed", 8, ({ random }) => ({
  kind: "delayed",
  queue: queues.plain,
  task: brief(random),
  options: { delay_seconds: between(random, 1, 50) / 10 },
}));

/** Its first attempt takes longer than it may. */
const timesOut = single("times out", 1, ({ random }) => ({
  kind: "retried",
  queue: queues.plain,
  task: { ms: 1_500, later_ms: 1, manner: random() < 0.5 ? "heeds" : "waits" },
  options: { timeout_seconds: 1 },
}));

const retried = single("retried", 8, ({ random }) => ({
  kind: "retried",
  queue: queues.plain,
  task: { ...brief(random), fails: between(random, 1, 3) },
  options: { backoff: { kind: "fixed", base_seconds: between(random, 0, 5) / 10 } },
}));

/** Into the dead letters. Those in the slow queue people may find and bring back; the others nobody touches. */
const dying: Act = {
  name: "dying",
  weight: 3,
  jobs: 1,
  async perform(world, turn) {
    const { random, tenant, nonce } = turn;
    const left = random() < 0.4;
    const wish: Wish = {
      ...wished(turn),
      kind: "dying",
      queue: left ? queues.plain : queues.slow,
      ends: left ? "dead" : "any",
      task: { ...brief(random), fails: 99, gives_up: random() < 0.3 },
      options: { max_attempts: between(random, 1, 3) },
    };
    const id = await submitOne(world, turn, wish);
    if (id !== undefined && !left) world.recent.add("revive", { tenant, id, nonce, key: nonce });
  },
};

/** At most so many at once, and so many in a second; the people at work change both. */
const limited = single("limited", 8, ({ random }) => ({
  kind: "limited",
  queue: random() < 0.7 ? queues.limited : queues.rated,
  task: brief(random),
}));

/** One of few keys, so that most find it held. */
const unique = single("unique", 5, ({ random }) => ({
  kind: "unique",
  queue: queues.plain,
  task: { ms: between(random, 20, 400), later_ms: 10 },
  options: {
    unique: { key: `u${between(random, 1, 20)}`, on_conflict: random() < 0.6 ? "return" : "reject" },
  },
}));

export const singles: readonly Act[] = [plain, delayed, timesOut, retried, dying, limited, unique];
