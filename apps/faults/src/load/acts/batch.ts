import { between, type Chance } from "../chance.ts";
import { queues } from "../kinds.ts";
import { insist } from "../submit/insist.ts";
import type { Act } from "../submit/turn.ts";
import { requestOf, wantedOf, type Wish } from "../submit/wish.ts";
import { brief } from "./lasting.ts";

/** A batch has one of these at a place of its own now and then, and must leave nothing of itself then. */
type Flaw = "none" | "an invalid job" | "a key of another job";

const flawOf = (random: Chance): Flaw => {
  const drawn = random();
  if (drawn < 0.8) return "none";
  return drawn < 0.9 ? "an invalid job" : "a key of another job";
};

/**
 * All of them or none over HTTP. The library takes any number, in parts: when it refuses a key, what else was in that part
 * may be stored.
 */
export const batch: Act = {
  name: "batch",
  weight: 0.8,
  jobs: 15,
  async perform(world, { random, tenant, nonce }) {
    const flaw = flawOf(random);
    const used = world.recent.one("any", random);
    const wishes = Array.from({ length: between(random, 2, 30) }, (_, at): Wish => {
      const one = `${nonce}.${at}`;
      return {
        tenant,
        nonce: one,
        key: one,
        kind: "batch",
        queue: queues.plain,
        ends: "succeeded",
        task: brief(random),
      };
    });
    const flawed = wishes.at(between(random, 0, wishes.length - 1));
    if (flawed && flaw === "an invalid job") flawed.options = { max_attempts: 1_000 };
    if (flawed && flaw === "a key of another job" && used?.tenant === tenant) flawed.key = used.key;
    const requests = wishes.map(requestOf);
    // Of a call of the library that meets a key of another job, the other jobs are stored.
    const library = random() < 0.3 && flaw !== "a key of another job";
    const apis = world.apisOf(tenant);
    const first = between(random, 0, apis.length - 1);
    const submit = world.history.invoke("submit", {
      via: library ? "library" : "http",
      ...(!library && { batch: nonce, ...(apis[first] && { to: apis[first].name }) }),
      jobs: wishes.map(wantedOf),
    });
    const known = await insist(world.over, async (tries) => {
      if (library) return world.queueOf(tenant).submitMany(requests);
      const api = apis[(first + tries) % apis.length];
      if (!api) throw new RangeError("there is no API to submit to");
      return api.client.submitMany(requests);
    });
    if (known.kind === "unknown") submit.info(known.error);
    else if (known.kind === "refused") submit.fail(known.error);
    else
      submit.ok({
        answers: known.value.map(({ id, created }, at) => ({ nonce: wishes[at]?.nonce ?? "", job: id, created })),
      });
  },
};
