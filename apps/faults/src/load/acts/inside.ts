import type { Submitted } from "@atlasqueue/core";
import type postgres from "postgres";
import { between, type Chance } from "../chance.ts";
import { queues } from "../kinds.ts";
import { isRefusal } from "../submit/insist.ts";
import { pauseFor } from "../submit/pause-for.ts";
import type { Act, Turn } from "../submit/turn.ts";
import { requestOf, wantedOf, type Wish } from "../submit/wish.ts";
import { own_connections_max } from "../submit/own.ts";
import type { World } from "../submit/world.ts";
import { brief } from "./lasting.ts";
import { giveBack, takeLane } from "./grouped.ts";

/** Mostly committed at once; sometimes left open, for seconds. What is frozen meanwhile stays open longer. */
const openFor = (random: Chance): number => {
  const drawn = random();
  if (drawn < 0.75) return between(random, 0, 50);
  return drawn < 0.95 ? between(random, 300, 3_000) : between(random, 3_000, 12_000);
};

class RolledBack extends Error {}

const openOf = new WeakMap<World, number>();

/**
 * Jobs in a caller's own transaction, beside a row of the caller's: both are there afterwards or neither is. Others have to go
 * on however long it stays open.
 */
export const inside: Act = {
  name: "inside",
  weight: 4,
  jobs: 1,
  async perform(world, turn) {
    const open = openOf.get(world) ?? 0;
    if (open >= own_connections_max) return;
    openOf.set(world, open + 1);
    try {
      if (turn.random() < 0.3) await inLane(world, turn);
      else await transact(world, turn, turn.random() < 0.5 ? { key: turn.nonce } : {});
    } finally {
      openOf.set(world, (openOf.get(world) ?? 1) - 1);
    }
  },
};

/** In a group whose jobs all come like this, one after the other's commit. */
async function inLane(world: World, turn: Turn): Promise<void> {
  const lane = takeLane(world, `inside-${turn.tenant}`, 0);
  if (!lane) return;
  giveBack(lane, !(await transact(world, turn, { group: lane.group })));
}

/** Resolves with whether it is known what became of it. */
async function transact(world: World, turn: Turn, given: { key?: string; group?: string }): Promise<boolean> {
  const { random, tenant, nonce } = turn;
  const { history, own, queueOf } = world;
  const wishes = Array.from({ length: given.group === undefined ? between(random, 1, 3) : 1 }, (_, at): Wish => ({
    tenant,
    nonce: `${nonce}.${at}`,
    kind: "inside",
    queue: given.group === undefined ? queues.plain : queues.grouped,
    ends: "succeeded",
    task: brief(random),
    ...(given.key !== undefined && { key: `${given.key}.${at}` }),
    ...(given.group !== undefined && { options: { group: given.group } }),
  }));
  const [open_ms, rolls_back, announces] = [openFor(random), random() < 0.2, random() < 0.8];
  const submit = history.invoke("submit", { via: "caller", row: nonce, batch: nonce, jobs: wishes.map(wantedOf) });
  const submitted: Submitted[] = [];
  let ended = false;
  try {
    await own.begin(async (tx: postgres.TransactionSql) => {
      await tx`INSERT INTO caller_rows (nonce) VALUES (${nonce})`;
      for (const wish of wishes) submitted.push(await queueOf(tenant).submitIn(tx, requestOf(wish)));
      await pauseFor(world, open_ms);
      if (rolls_back) throw new RolledBack();
      ended = true;
    });
  } catch (error) {
    // Before its COMMIT was sent it cannot have been committed.
    const known = !ended || isRefusal(error);
    if (known) submit.fail(error);
    else submit.info(error);
    return known;
  }
  submit.ok({
    answers: submitted.map(({ id, created }, at) => ({ nonce: wishes[at]?.nonce ?? "", job: id, created })),
  });
  if (announces) await queueOf(tenant).announce(...submitted);
  return true;
}
