import type { SubmitJobInput } from "@atlasqueue/contract";
import { executeOn } from "../../../src/database/statement.ts";
import { inTransaction } from "../../../src/database/transaction.ts";
import { submitFlow } from "../../../src/flows/submit-flow.ts";
import { dueSchedules, fireSchedules } from "../../../src/schedules/fire.ts";
import { admitAll } from "../../advance.ts";
import { submitInside } from "../../../src/submit/pending/submit-inside.ts";
import { enqueueAll } from "../../../src/submit/enqueue-all.ts";
import { enqueue, enqueueOnce, lookAgain } from "../../../src/submit/enqueue.ts";
import type { World } from "../world.ts";
import { mayBeLate, ofMany, ofOne, type Moves } from "./move.ts";

const options = { idempotency_ttl_seconds: 60 };
type Wish = [request: Partial<SubmitJobInput>, key?: string];
const submitting =
  (...wishes: Wish[]) =>
  ({ asks }: World, deps: World["deps"]): Promise<unknown> =>
    enqueue(
      deps,
      wishes.map(([request, key]) => asks(request, key)),
      options,
    ).catch(mayBeLate);
/** As one that has met a lock. */
const submittingPostponed =
  (...wishes: Wish[]) =>
  ({ asks }: World, deps: World["deps"]): Promise<unknown> =>
    lookAgain(() =>
      enqueueOnce(
        executeOn(deps.database),
        deps,
        wishes.map(([request, key]) => asks(request, key)),
        { ...options, postponed: true },
      ),
    ).catch(mayBeLate);
const inside =
  (...[request, key]: Wish) =>
  ({ asks }: World, deps: World["deps"]): Promise<unknown> =>
    inTransaction(deps.database, (execute) => submitInside(execute, asks(request, key), options));
const unique = (
  key: string,
  on_conflict: "return" | "reject" | "replace",
  group?: string,
): Partial<SubmitJobInput> => ({
  unique: { key, on_conflict },
  ...(group !== undefined && { group }),
  payload: { on_conflict },
});

/** Jobs come in. */
export const submissionMoves: Moves = {
  ...ofOne(undefined, {
    "submit plain": submitting([{}], [{}]),
    "submit grouped": submitting([{ group: "g" }], [{ group: "other" }]),
    "submit with a key": submitting([{ group: "keyed" }, "key"]),
    "submit with a spent key": submitting([{}, "spent"]),
    "submit a batch": ({ asks }, deps) =>
      enqueueAll(
        deps,
        [asks({ group: "keyed" }, "key"), asks(unique("held", "replace", "keyed"), "key-2"), asks({})],
        options,
      ).catch(mayBeLate),
    "submit a keyed batch": ({ asks }, deps) =>
      enqueueAll(deps, [asks({ group: "g" }, "key-3"), asks({}, "key-4")], options).catch(mayBeLate),
    "submit unique": submitting([unique("new", "return")]),
    "submit unique after one that ended": submitting([unique("over", "return")]),
    "submit unique, return": submitting([unique("held", "return", "keyed"), "key-2"]),
    "submit unique, replace": submitting([unique("held", "replace", "keyed")]),
    // Beside another one stopped while holding the key, the caller is told to come again.
    "submit to replace what is scheduled": submitting([unique("u", "replace")]),
    "submit postponed": submittingPostponed(
      [{ group: "g" }],
      [{ group: "new" }],
      [unique("held", "replace", "keyed"), "key-2"],
    ),
    "submit inside": inside({}),
    "submit inside, grouped": inside({ group: "keyed" }, "key"),
    "submit inside, unique": inside(unique("held", "replace", "keyed"), "key-2"),
    "submit a flow": ({ asks, plain }, deps) =>
      submitFlow(
        deps,
        {
          jobs: [
            { ...asks({ group: "g" }), ref: "a" },
            { ...asks({}), ref: "b", depends_on: ["a", String(plain[0])] },
          ],
        },
        options,
      ).catch(mayBeLate),
    "submit behind what runs": ({ asks, held }, deps) =>
      submitFlow(deps, { jobs: [{ ...asks({}), ref: "b", depends_on: [held] }] }, options).catch(mayBeLate),
    // Row by row where somebody has what is wanted.
    admit: (_world, deps) => admitAll(deps),
  }),
  ...ofMany({
    fire: async (_world, deps) => fireSchedules(deps, await dueSchedules(deps, 10, [])),
  }),
};
