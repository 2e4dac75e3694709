import { between } from "../chance.ts";
import { queues } from "../kinds.ts";
import { submitOne } from "../submit/submit.ts";
import type { Act } from "../submit/turn.ts";
import type { Wish } from "../submit/wish.ts";
import { brief } from "./lasting.ts";

/** One key everywhere at once: at each API and in the library; then once more, and with another job. */
export const sameKey: Act = {
  name: "same key",
  weight: 4,
  jobs: 1,
  async perform(world, turn) {
    const { random, tenant, nonce } = turn;
    const wish: Wish = {
      tenant,
      nonce,
      key: nonce,
      kind: "plain",
      queue: queues.plain,
      ends: "succeeded",
      task: brief(random),
    };
    const apis = world.apisOf(tenant);
    await Promise.all([
      ...apis.map((_, at) => submitOne(world, turn, wish, at)),
      ...(random() < 0.5 ? [submitOne(world, turn, wish, "library")] : []),
    ]);
    const again = between(random, 0, apis.length - 1);
    await submitOne(world, turn, wish, again);
    if (random() < 0.2) await submitOne(world, turn, { ...wish, nonce: `${nonce}.other` }, again);
  },
};
