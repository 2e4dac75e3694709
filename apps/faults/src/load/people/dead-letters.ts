import { between } from "../chance.ts";
import { queues } from "../kinds.ts";
import { insist, once, type Known } from "../submit/insist.ts";
import type { Act, Turn } from "../submit/turn.ts";
import type { World, Api } from "../submit/world.ts";
import type { Begun } from "../../history/open-history.ts";

const apiOf = (world: World, { random, tenant }: Turn, tries = 0): Api => {
  const apis = world.apisOf(tenant);
  const api = apis[(between(random, 0, apis.length - 1) + tries) % apis.length];
  if (!api) throw new RangeError("there is no API to ask");
  return api;
};

/** How many it changed, or why it is not known. */
function tell(begun: Begun<"retry" | "replay" | "purge">, known: Known<number>, jobs?: string[]): void {
  if (known.kind === "done") begun.ok({ count: known.value, ...(jobs && { jobs }) });
  else if (known.kind === "refused") begun.fail(known.error);
  else begun.info(known.error);
}

/** One job by itself, as it is or repaired: it then succeeds. */
const retry: Act = {
  name: "retry",
  weight: 0.3,
  jobs: 1,
  async perform(world, turn) {
    const { random, tenant, nonce } = turn;
    const [job] = world.recent.take("revive", tenant, 1);
    if (!job) return;
    const repaired = random() < 0.5;
    const begun = world.history.invoke("retry", { tenant, jobs: [job.id], about: repaired ? "repaired" : "as it is" });
    const known = repaired
      ? await once(() => apiOf(world, turn).client.editAndRetry(job.id, { patch: { fails: 0 } }))
      : await insist(world.over, (tries) =>
          apiOf(world, turn, tries).client.retry(job.id, { idempotencyKey: `${nonce}.retry` }),
        );
    tell(begun, known.kind === "done" ? { kind: "done", value: 1 } : known, [job.id]);
  },
};

/** Many by their ids, under a key. They die once more. */
const replay: Act = {
  name: "replay",
  weight: 0.05,
  jobs: 10,
  async perform(world, turn) {
    const { tenant, nonce, random } = turn;
    const ids = world.recent.take("revive", tenant, between(random, 2, 50)).map(({ id }) => id);
    if (ids.length === 0) return;
    const begun = world.history.invoke("replay", { tenant, jobs: ids });
    const known = await insist(world.over, async (tries) => {
      const { client } = apiOf(world, turn, tries);
      return (await client.deadLetters.replay({ ids }, {}, { idempotencyKey: `${nonce}.replay` })).changed;
    });
    tell(begun, known);
  },
};

/** All of a queue, repaired and at a pace, in the background. */
const repair: Act = {
  name: "repair",
  weight: 0.03,
  jobs: 10,
  async perform(world, turn) {
    const { tenant } = turn;
    const begun = world.history.invoke("replay", { tenant, about: `all of ${queues.slow}, repaired` });
    const filter = { queue: queues.slow };
    const known = await once(() =>
      apiOf(world, turn).client.deadLetters.replays.create({ filter, patch: { fails: 0 }, rate: 100 }),
    );
    tell(begun, known.kind === "done" ? { kind: "done", value: 0 } : known);
  },
};

const purge: Act = {
  name: "purge",
  weight: 0.02,
  jobs: 1,
  async perform(world, turn) {
    const { tenant, random } = turn;
    const ids = world.recent.take("revive", tenant, between(random, 1, 5)).map(({ id }) => id);
    if (ids.length === 0) return;
    const begun = world.history.invoke("purge", { tenant, jobs: ids });
    tell(begun, await once(async () => (await apiOf(world, turn).client.deadLetters.purge({ ids })).changed));
  },
};

export const deadLetters: readonly Act[] = [retry, replay, repair, purge];
