import { firstId } from "../ids.ts";
import { steppingDatabase, submission } from "@atlasqueue/harness";
import { describe, expect, test } from "vitest";
import { admitAll } from "../../test/advance.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { enqueue } from "../submit/enqueue.ts";
import { cancel } from "../jobs/cancel.ts";
import { executeIn } from "../database/caller-transaction.ts";
import { submitInside } from "../submit/pending/submit-inside.ts";
import { prune } from "./prune.ts";

const { deps, finish } = engineHarness();

describe("a job that a key names is kept for as long as the key holds", () => {
  const past = { succeededHours: -1, deadHours: -1 };
  const add = async (wish: Parameters<typeof submission>[0], key?: string) => {
    const [outcome] = await enqueue(deps, [submission(wish, key)], { idempotency_ttl_seconds: 3_600 });
    return { kind: outcome?.kind, id: outcome && "job" in outcome ? outcome.job.id : "" };
  };
  const pruned = async (id: string) => {
    await prune(deps, past, firstId, 1_000);
    return (await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE id = ${id}`).length === 0;
  };

  test("by an idempotency key that outlives the retention: the same request still gets the same job", async () => {
    const { id } = await add({}, "long");
    const plain = await add({});
    await finish(id);
    await finish(plain.id);
    expect([await pruned(id), await pruned(plain.id)]).toEqual([false, true]);
    expect(await add({}, "long")).toEqual({ kind: "replayed", id });
    await deps.database.sql`UPDATE atlasqueue.jobs SET kept_until = now()`;
    expect(await pruned(id)).toBe(true);
  });

  test("by a key that was answered with an existing job", async () => {
    const { id } = await add({ unique: { key: "u" } });
    expect(await add({ unique: { key: "u" } }, "noted")).toEqual({ kind: "existing", id });
    await finish(id);
    expect(await pruned(id)).toBe(false);
    expect(await add({ unique: { key: "u" } }, "noted")).toEqual({ kind: "replayed", id });
    await deps.database.sql`UPDATE atlasqueue.idempotency_keys SET expires_at = now()`;
    await deps.database.sql`UPDATE atlasqueue.jobs SET finished_at = now() - interval '2 minutes'`;
    expect(await pruned(id)).toBe(true);
  });

  test.each([
    [
      "of a window that ends meanwhile",
      { scope: "window", window_seconds: 3_600 },
      "UPDATE atlasqueue.jobs SET unique_until = now()",
    ],
    ["of a job that finishes meanwhile", { scope: "active" }, ""],
  ] as const)("by a key about to be noted for it, as it was the answer %s", async (_name, terms, meanwhile) => {
    const unique = { key: "late", ...terms };
    const { id } = await add({ unique });
    if (terms.scope === "window") await finish(id);
    let steps = 0;
    const database = steppingDatabase(deps.database, async (step) => {
      // The second statement notes the key.
      steps += step === "statement" ? 1 : 0;
      if (step !== "statement" || steps !== 2) return;
      if (meanwhile) await deps.database.sql.unsafe(meanwhile);
      else await finish(id);
      await pruned(id);
    });
    const [outcome] = await enqueue({ ...deps, database }, [submission({ unique }, "late")], {
      idempotency_ttl_seconds: 3_600,
    });
    expect(outcome).toMatchObject({ kind: "existing", job: { id } });
    expect(await add({ unique }, "late")).toEqual({ kind: "replayed", id });
  });

  test("by the transaction it came in with, though it was cancelled before it was admitted", async () => {
    const job = await deps.database.sql.begin((tx) =>
      submitInside(executeIn(tx), submission({}, "inside"), { idempotency_ttl_seconds: 3_600 }),
    );
    const { id } = (job as { job: { id: string } }).job;
    await cancel(deps, "default", id);
    await admitAll(deps);
    expect(await pruned(id)).toBe(false);
    expect(await add({}, "inside")).toEqual({ kind: "replayed", id });
  });
});
