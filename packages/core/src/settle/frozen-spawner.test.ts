import { eventually, submission, tcpProxy } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { addFlow } from "../../test/add-flow.ts";
import { connectDatabase } from "../database/connect.ts";
import { claim } from "../lease/claim.ts";
import { completeWithChildren } from "./complete-with-children.ts";

const { deps, url } = engineHarness();

/** BEGIN, the job's lock, and those of its dependants. */
const questions = 3;

test("a process that stands still between the statements does not keep the job and its dependants for good", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 60 };
  const [lease] = await claim(deps, [a], claimer);
  if (!lease) throw new Error("nothing was claimed");
  const spawned = { children: [submission()], dependants_wait: true };
  const proxy = await tcpProxy(url());
  const database = connectDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 60_000 });
  try {
    await database.sql`SELECT`;
    const still = proxy.freezeAfterQuestions(questions);
    const ended = completeWithChildren({ ...deps, database }, { lease, result: null }, spawned).then(
      () => "done",
      () => "failed",
    );
    await still;
    const isFree = (id: string) => deps.database.sql`SELECT FROM atlasqueue.jobs WHERE id = ${id} FOR UPDATE NOWAIT`;
    await expect(isFree(a)).rejects.toThrow("lock");
    await eventually(() => isFree(a));
    await eventually(() => isFree(sum));
    proxy.reset();
    expect(await ended).toBe("failed");
  } finally {
    await database.close();
    await proxy.close();
  }
  const again = await completeWithChildren(deps, { lease, result: null }, spawned);
  expect(again).toMatchObject({ kind: "applied", children: [{ kind: "created" }] });
});
