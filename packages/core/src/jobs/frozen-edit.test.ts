// @module-tag slow
import { eventually, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { openDatabase, openProxy } from "../../test/opened.ts";
import { enqueue } from "../submit/enqueue.ts";
import { cancel } from "./cancel.ts";
import { editAndRetry } from "./edit-and-retry.ts";

const { deps, url } = engineHarness();

/** Many of the pieces in which the network carries it. */
const payload_bytes = 2_000_000;
const fill = "x".repeat(1_000);

test("a process that stands still in the middle of sending a payload does not keep the job and its group for good", async () => {
  const outcomes = await enqueue(deps, [submission({ group: "g" })], { idempotency_ttl_seconds: 60 });
  const id = outcomes.map((one) => ("job" in one ? one.job.id : "")).join("");
  await cancel(deps, "default", id);
  const proxy = await openProxy(url());
  const database = openDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 60_000 });
  await database.sql`SELECT`;
  const still = new Promise<void>((resolve) =>
    proxy.splitQuestions((piece) => {
      if (piece.includes(fill)) void proxy.freezeAfterQuestions(1).then(resolve);
      return [piece];
    }),
  );
  const payload = { fill: fill.repeat(payload_bytes / fill.length) };
  const edited = editAndRetry({ ...deps, database }, "default", id, { payload }, 2 * payload_bytes);
  const ended = edited.then(
    () => "done",
    () => "failed",
  );
  await still;
  await expect(deps.database.sql`SELECT FROM atlasqueue.jobs WHERE id = ${id} FOR UPDATE NOWAIT`).rejects.toThrow(
    "lock",
  );
  await eventually(() => deps.database.sql`SELECT FROM atlasqueue.jobs WHERE id = ${id} FOR UPDATE NOWAIT`);
  proxy.reset();
  expect(await ended).toBe("failed");
});
