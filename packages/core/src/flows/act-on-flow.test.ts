import { steppingDatabase, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { advanceAndAdmit } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { nothingFollows as followUps } from "../../test/explorer/moves/move.ts";
import { cancel } from "../jobs/cancel.ts";
import { retry } from "../jobs/retry.ts";
import { completeWithChildren } from "../settle/complete-with-children.ts";
import { actOnFlow } from "./act-on-flow.ts";

const { deps, read, statuses, take } = engineHarness();

const advance = () => advanceAndAdmit(deps);
const act = async (id: string, action: "cancel" | "retry") => {
  const flow_id = (await read(id))?.flow_id ?? "";
  return actOnFlow({ ...deps, followUps }, "default", flow_id, action);
};

test("a child retried with its flow is cancelled again, and comes back, with a parent of an earlier one", async () => {
  const { a } = await addFlow(deps, { a: {}, other: { after: ["a"], on_parent_failure: "run" } });
  const { b } = await addFlow(deps, { b: { after: [a] } });
  await cancel(deps, "default", b);
  await cancel(deps, "default", a);
  await advance();
  await act(b, "retry");
  await advance();
  expect(await statuses(b)).toEqual(["cancelled"]);
  await retry(deps, "default", a);
  await advance();
  expect(await statuses(b)).toEqual(["blocked"]);
});

/** Retries the flow of a job; `firstLook` is called as its first look has seen everything. */
const retrying = async (id: string, firstLook: () => Promise<void>): Promise<number> => {
  let looks = 0;
  const database = steppingDatabase(deps.database, async (step, _number, text) => {
    if (step === "answer" && text.includes("FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs") && (looks += 1) === 2)
      await firstLook();
  });
  const flow_id = (await read(id))?.flow_id ?? "";
  return actOnFlow({ ...deps, database, followUps }, "default", flow_id, "retry");
};

/** Another transaction has locked a job, until the returned function is called. */
async function lockedByAStranger(id: string): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const stranger = deps.database.sql.begin(async (sql) => {
    await sql`SELECT 1 FROM atlasqueue.jobs WHERE id = ${id} FOR UPDATE`;
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  return async () => {
    over.resolve();
    await stranger;
  };
}

test("a job that another transaction has locked is retried with its flow once that is over", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  for (const id of [b, a]) await cancel(deps, "default", id);
  await advance();
  expect(await retrying(a, await lockedByAStranger(a))).toBe(2);
  await advance();
  expect(await statuses(a, b)).toEqual(["queued", "blocked"]);
});

test("a job that fails again as its flow is retried is left for the next retry", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: {} });
  for (const id of [a, b]) await cancel(deps, "default", id);
  await advance();
  const release = await lockedByAStranger(a);
  const changed = await retrying(a, async () => {
    await cancel(deps, "default", b);
    await release();
  });
  expect(changed).toBe(2);
  await advance();
  expect(await statuses(a, b)).toEqual(["queued", "cancelled"]);
});

test("a job that is adding others while its flow is cancelled does not leave these to run", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  const lease = await take(a);
  const held = Promise.withResolvers<void>();
  const looked = Promise.withResolvers<void>();
  const database = steppingDatabase(deps.database, async (step) => {
    if (step !== "commit") return;
    held.resolve();
    await looked.promise;
  });
  const added = completeWithChildren(
    { ...deps, database },
    { lease, result: null },
    { children: [submission()], dependants_wait: false },
  );
  await held.promise;
  let pages = 0;
  const looking = steppingDatabase(deps.database, (step, _number, text) => {
    // The second page is empty, as what is added is not there yet.
    if (step === "answer" && text.includes("FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs") && (pages += 1) === 2)
      looked.resolve();
  });
  const flow_id = (await read(a))?.flow_id ?? "";
  await actOnFlow({ ...deps, database: looking, followUps }, "default", flow_id, "cancel");
  const outcome = await added;
  const [child] =
    outcome.kind === "applied" ? outcome.children.flatMap((one) => ("job" in one ? [one.job.id] : [])) : [];
  expect(await statuses(a, b, child ?? "")).toEqual(["succeeded", "cancelled", "cancelled"]);
});
