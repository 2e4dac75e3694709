import { between } from "../chance.ts";
import type { Turn } from "./turn.ts";
import { insist, type Known } from "./insist.ts";
import { countingTries } from "./tries.ts";
import { requestOf, wantedOf, type Wish } from "./wish.ts";
import type { World } from "./world.ts";

type Stored = { id: string; created: boolean };

/** Which API is asked first, by its place; `library`: the caller's own process stores the job. */
export type Way = number | "library";

/** Over HTTP mostly, at any API. */
const anyWay = ({ apisOf }: World, { random, tenant }: Turn): Way =>
  random() < 0.3 ? "library" : between(random, 0, apisOf(tenant).length - 1);

/**
 * Submits a job under its key until it is known what became of it, and writes both down. Resolves with the job, if there
 * is one.
 */
export async function submitOne(
  world: World,
  turn: Turn,
  wish: Wish,
  way: Way = anyWay(world, turn),
): Promise<string | undefined> {
  const { history, apisOf, queueOf, recent } = world;
  const { tenant, nonce, key } = wish;
  const apis = apisOf(tenant);
  const first = way === "library" ? undefined : apis[way];
  const submit = history.invoke("submit", {
    via: first ? "http" : "library",
    ...(first && { to: first.name }),
    jobs: [wantedOf(wish)],
  });
  const request = requestOf(wish);
  const { value: known, unanswered } = await countingTries<Known<Stored>>(() =>
    insist(world.over, async (tries) => {
      if (way === "library") return queueOf(tenant).submit(request);
      const api = apis[(way + tries) % apis.length];
      if (!api) throw new RangeError("there is no API to submit to");
      return api.client.submit(request);
    }),
  );
  if (known.kind === "unknown") submit.info(known.error);
  else if (known.kind === "refused") submit.ok({ answers: [{ nonce, refused: known.error.name, unanswered }] });
  else {
    const { id, created } = known.value;
    submit.ok({ answers: [{ nonce, job: id, created }] });
    if (created) recent.add("any", { tenant, id, nonce, key });
    return id;
  }
  return undefined;
}
