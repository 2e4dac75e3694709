import { between } from "../chance.ts";
import { queues } from "../kinds.ts";
import { insist } from "../submit/insist.ts";
import { submitOne } from "../submit/submit.ts";
import { pauseFor } from "../submit/pause-for.ts";
import type { Act } from "../submit/turn.ts";

/** Cancelled while it waits for its time, while it runs, or too late. */
export const cancelled: Act = {
  name: "cancelled",
  weight: 4,
  jobs: 1,
  async perform(world, turn) {
    const { random, tenant, nonce } = turn;
    const delays = random() < 0.4;
    const id = await submitOne(world, turn, {
      tenant,
      nonce,
      key: nonce,
      kind: "cancelled",
      queue: queues.plain,
      ends: "any",
      task: { ms: between(random, 5, 500), later_ms: 20, manner: "heeds" },
      ...(delays && { options: { delay_seconds: between(random, 1, 5) } }),
    });
    if (id === undefined) return;
    await pauseFor(world, between(random, 0, 400));
    const apis = world.apisOf(tenant);
    const first = between(random, 0, apis.length - 1);
    const cancel = world.history.invoke("cancel", { tenant, jobs: [id] });
    const known = await insist(world.over, async (tries) =>
      apis[(first + tries) % apis.length]?.client.cancel(id, { idempotencyKey: `${nonce}.cancel` }),
    );
    if (known.kind === "done") cancel.ok({ jobs: [id] });
    else if (known.kind === "refused") cancel.fail(known.error);
    else cancel.info(known.error);
  },
};
