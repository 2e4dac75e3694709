import { limits } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { anybody, replayWorld, tenant } from "../../test/replay-world.ts";
import type { OperationRow } from "../database/schema/index.ts";
import { createReplay, previewReplay } from "./create.ts";
import { findOperation, listOperations } from "./find.ts";

const world = replayWorld();
const { dead, start, step, runOperation, look } = world;

const carryOutDue = async (): Promise<void> => {
  while (await step());
};

test("a dry run counts, shows one job before and after the patch, and changes nothing", async () => {
  await dead(40);
  const before = await world.sql`SELECT * FROM atlasqueue.jobs ORDER BY id`;
  const seen = await previewReplay(world.deps, {
    tenant,
    filter: { type: "mail" },
    patch: { old: null, relay: { a: 1 } },
  });
  expect(seen).toMatchObject({
    matched: 40,
    complete: true,
    sample: {
      type: "mail",
      queue: "default",
      before: { n: 40, old: true },
      after: { n: 40, relay: { a: 1 } },
      fits: true,
    },
  });
  expect(seen.sample?.after).not.toHaveProperty("old");
  expect(await previewReplay(world.deps, { tenant, filter: { type: "none" } })).toMatchObject({
    matched: 0,
    complete: true,
    sample: null,
  });
  expect(await world.sql`SELECT * FROM atlasqueue.jobs ORDER BY id`).toEqual(before);
  expect((await listOperations(world.deps, tenant, 10, undefined)).rows).toEqual([]);
});

test("the patch is in every replayed payload; a job it makes too large stays dead, as it was", async () => {
  await dead(3);
  const text = "x".repeat(limits.payload_bytes_max - 100);
  await world.sql`UPDATE atlasqueue.jobs SET payload = ${world.sql.json({ n: 0, text })} WHERE payload ->> 'n' = '2'`;
  const row = await start({ filter: { type: "mail" }, patch: { old: null, added: "y".repeat(200) } });
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "done", done: 2, failed: 1 });
  const payloads = await world.sql`SELECT status, payload FROM atlasqueue.jobs ORDER BY status, payload ->> 'n'`;
  expect(payloads).toEqual([
    { status: "dead", payload: { n: 0, text } },
    { status: "queued", payload: { n: 1, added: "y".repeat(200) } },
    { status: "queued", payload: { n: 3, added: "y".repeat(200) } },
  ]);
});

test("a patched page is no heavier than a claim; a replay whose page fails leaves the others their turn", async () => {
  await dead(40, { of: "heavy" });
  await dead(3);
  const wish = { tenant: "heavy", filter: { all: true as const }, patch: { old: false } };
  const heavy = (await createReplay(world.deps, wish, anybody)) as OperationRow;
  const heavyNow = async () => (await findOperation(world.deps, "heavy", heavy.id)) as OperationRow;
  await step();
  expect(await heavyNow()).toMatchObject({ status: "running", done: 16 });

  const light = await start({ filter: { all: true } });
  await world.sql`ALTER TABLE atlasqueue.jobs ADD CONSTRAINT broken CHECK (tenant <> 'heavy' OR status <> 'queued') NOT VALID`;
  try {
    await world.sql`UPDATE atlasqueue.operations SET next_at = now() - interval '1 second' WHERE id = ${heavy.id}`;
    await expect(step(undefined, undefined, { tenant: "default" })).rejects.toThrow("broken");
    await carryOutDue();
  } finally {
    await world.sql`ALTER TABLE atlasqueue.jobs DROP CONSTRAINT broken`;
  }
  expect(await look(light)).toMatchObject({ status: "done", done: 3 });
  expect(await heavyNow()).toMatchObject({ status: "running", done: 16 });
  expect((await heavyNow()).next_at.getTime()).toBeGreaterThan(Date.now() + 5_000);
  await runOperation();
  expect(await heavyNow()).toMatchObject({ status: "done", done: 40, failed: 0 });
});
