import { NotFoundError } from "@atlasqueue/client";
import { oneOf } from "../chance.ts";
import type { Act } from "../submit/turn.ts";
import { once } from "../submit/insist.ts";

/** Asks, as one tenant, for a job of the other: there is none. */
export const trespass: Act = {
  name: "trespass",
  weight: 0.3,
  jobs: 1,
  async perform(world, { random, tenant }) {
    const job = world.recent.one("any", random);
    if (!job || job.tenant === tenant) return;
    const { client } = oneOf(random, world.apisOf(tenant));
    const acts = [
      ["read", () => client.get(job.id)],
      ["cancel", () => client.cancel(job.id)],
      ["retry", () => client.retry(job.id)],
      ["attempts", () => client.attempts(job.id)],
    ] as const;
    const [about, act] = oneOf(random, acts);
    const begun = world.history.invoke("trespass", { tenant, jobs: [job.id], about });
    const known = await once<unknown>(act);
    if (known.kind === "unknown") begun.info(known.error);
    else if (known.kind === "refused")
      begun.ok({
        status: known.error instanceof NotFoundError ? 404 : 409,
        seen: !(known.error instanceof NotFoundError),
      });
    else begun.ok({ status: 200, seen: true });
  },
};
