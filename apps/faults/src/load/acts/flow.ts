import type { SubmitJobInput } from "@atlasqueue/contract";
import { between, type Chance } from "../chance.ts";
import { queues } from "../kinds.ts";
import { insist } from "../submit/insist.ts";
import type { Act, Turn } from "../submit/turn.ts";
import { fieldsOf, wantedOf, type Wish } from "../submit/wish.ts";
import { brief } from "./lasting.ts";

type Member = Wish & { ref: string; depends_on: string[]; on_parent_failure?: "cancel" | "run" };

/**
 * Two that wait for none, some that wait for both, and one that waits for all of those. One of the middle may die: the last
 * is then cancelled, or runs all the same. Another may add jobs as it succeeds, for which the last waits too.
 */
function membersOf({ random, tenant, nonce }: Turn): Member[] {
  const member = (ref: string, depends_on: string[]): Member => ({
    ref,
    depends_on,
    tenant,
    nonce: `${nonce}.${ref}`,
    kind: "flow",
    queue: queues.plain,
    ends: "succeeded",
    task: brief(random),
  });
  const roots = [member("root-1", []), member("root-2", [])];
  const middle = Array.from({ length: between(random, 1, 4) }, (_, at) => member(`middle-${at}`, ["root-1", "root-2"]));
  const last = member(
    "last",
    middle.map(({ ref }) => ref),
  );
  const [first] = middle;
  if (first && random() < 0.2) {
    first.task = { ...first.task, fails: 99 };
    first.options = { max_attempts: between(random, 1, 2) };
    first.ends = "dead";
    last.on_parent_failure = random() < 0.5 ? "cancel" : "run";
    last.ends = last.on_parent_failure === "cancel" ? "cancelled" : "succeeded";
  } else if (first && random() < 0.3) first.task = { ...first.task, spawns: between(random, 1, 3) };
  return [...roots, ...middle, last];
}

type LinkedJob = SubmitJobInput & { ref: string; depends_on?: string[]; on_parent_failure?: "cancel" | "run" };

/** As the API and the library take it, with the job that runs when all have ended. */
function flowOf(members: readonly Member[], end: Wish | undefined): { jobs: LinkedJob[]; then?: SubmitJobInput } {
  const jobs = members.map((member) => ({
    ...fieldsOf(member),
    ref: member.ref,
    ...(member.depends_on.length > 0 && { depends_on: member.depends_on }),
    ...(member.on_parent_failure && { on_parent_failure: member.on_parent_failure }),
  }));
  return { jobs, ...(end && { then: fieldsOf(end) }) };
}

const endOf = ({ tenant, nonce }: Turn, random: Chance): Wish | undefined =>
  random() < 0.5
    ? { tenant, nonce: `${nonce}.then`, kind: "flow", queue: queues.plain, ends: "succeeded", task: { ms: 1 } }
    : undefined;

/** Jobs that wait for one another, all of them or none, under one key. */
export const flow: Act = {
  name: "flow",
  weight: 1.3,
  jobs: 6,
  async perform(world, turn) {
    const { random, tenant, nonce } = turn;
    const members = membersOf(turn);
    const end = endOf(turn, random);
    const wishes = end ? [...members, end] : members;
    const request = flowOf(members, end);
    const library = random() < 0.3;
    const apis = world.apisOf(tenant);
    const first = between(random, 0, apis.length - 1);
    const submit = world.history.invoke("submit", {
      via: library ? "library" : "http",
      batch: nonce,
      ...(!library && apis[first] && { to: apis[first].name }),
      jobs: wishes.map(wantedOf),
    });
    const known = await insist(world.over, async (tries) => {
      if (library) {
        const stored = await world.queueOf(tenant).submitFlow({ ...request, idempotency_key: nonce });
        return [...stored.jobs, ...(stored.then ? [stored.then] : [])];
      }
      const api = apis[(first + tries) % apis.length];
      if (!api) throw new RangeError("there is no API to submit to");
      const builder = api.client.flow();
      for (const job of request.jobs) builder.add(job);
      if (request.then) builder.afterAll(request.then);
      const stored = await builder.submit({ idempotencyKey: nonce });
      const { created } = stored;
      return [...stored.jobs, ...(stored.last ? [stored.last] : [])].map(({ id }) => ({ id, created }));
    });
    if (known.kind === "unknown") submit.info(known.error);
    else if (known.kind === "refused") submit.fail(known.error);
    else
      submit.ok({
        answers: known.value.map(({ id, created }, at) => ({ nonce: wishes[at]?.nonce ?? "", job: id, created })),
      });
  },
};
