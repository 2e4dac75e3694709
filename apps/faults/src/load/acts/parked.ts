import { between } from "../chance.ts";
import { queues } from "../kinds.ts";
import { insist } from "../submit/insist.ts";
import { pauseFor } from "../submit/pause-for.ts";
import { submitOne } from "../submit/submit.ts";
import type { Act } from "../submit/turn.ts";
import { brief } from "./lasting.ts";

const signal = "go";

/** One that waits for a signal: it comes before the wait or after it, or never, and the job goes on without it. */
export const parked: Act = {
  name: "parked",
  weight: 3,
  jobs: 1,
  async perform(world, turn) {
    const { random, tenant, nonce } = turn;
    const [comes, after_ms, over_http] = [random() < 0.8, between(random, 0, 2_000), random() < 0.7];
    const task = { ...brief(random), waits_for: signal };
    const wish = { tenant, nonce, key: nonce, kind: "parked", queue: queues.slow, ends: "succeeded", task } as const;
    const id = await submitOne(world, turn, wish);
    if (id === undefined || !comes) return;
    await pauseFor(world, after_ms);
    const begun = world.history.invoke("signal", { tenant, jobs: [id], about: signal });
    const apis = world.apisOf(tenant);
    const known = await insist<unknown>(world.over, async (tries) => {
      const api = apis[tries % apis.length];
      if (over_http && api) await api.client.signal(id, signal, { nonce }, { idempotencyKey: `${nonce}.go` });
      else await world.queueOf(tenant).signal(id, signal, { nonce });
    });
    if (known.kind === "done") begun.ok({ jobs: [id] });
    else if (known.kind === "refused") begun.fail(known.error);
    else begun.info(known.error);
  },
};
