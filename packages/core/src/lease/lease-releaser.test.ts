import { randomUUID } from "node:crypto";
import { brokenConnection, eventually, steppingDatabase, type Step } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimer, engineHarness, main } from "../../test/engine-harness.ts";
import { openDatabase } from "../../test/opened.ts";
import type { Database } from "../database/connect.ts";
import { createLeaseReleaser, type LeaseReleaser } from "./lease-releaser.ts";
import { claim, claimReady } from "./claim.ts";
import { revokeClaim } from "./release.ts";

const { deps, limit, recorded, url, addMany, besideStranger } = engineHarness();
let returns: LeaseReleaser;
beforeEach(() => void (returns = createLeaseReleaser(deps)));
afterEach(() => returns.close(0));

/** Notes the token a claim is sent with: the first parameter of its statement. */
const watchTokens = (database: Database, tokens: string[]): Database => ({
  ...database,
  sql: new Proxy(database.sql, {
    get: (sql, name) =>
      name !== "unsafe"
        ? (Reflect.get(sql, name) as unknown)
        : (text: string, params: string[], options: object) => {
            tokens.push(params[0] ?? "");
            return sql.unsafe(text, params, options);
          },
  }),
});
const attempts = async () =>
  (
    await deps.database.sql<
      { status: string; attempts: number }[]
    >`SELECT DISTINCT status, attempts FROM atlasqueue.jobs`
  ).map(({ status, attempts: spent }) => ({ status, attempts: spent }));

for (const limited of [false, true])
  test(`wherever the connection of a claim breaks, its attempts are given back (${limited ? "with" : "without"} limits)`, async () => {
    if (limited) await limit({ concurrency: 100 });
    const ids = await addMany(10);
    const broken: Step[] = [];
    for (let at = 1, whole = false; !whole; at += 1) {
      const database = steppingDatabase(deps.database, (step, number) => {
        if (number !== at) return;
        broken.push(step);
        throw brokenConnection();
      });
      const claiming = claim({ ...deps, database }, ids, { ...claimer, unanswered: returns.unanswered });
      const leases = await claiming.catch(() => undefined);
      if (leases) await returns.release(leases);
      whole = leases !== undefined;
      await eventually(async () => expect(await attempts()).toEqual([{ status: "queued", attempts: 0 }]));
    }
    expect(new Set(broken)).toEqual(new Set(["statement", "commit", "answer"]));
    expect(new Set((await deps.signal.take([main], 1_000)).ids)).toEqual(new Set(ids));
    expect((await claimReady(deps, 100, claimer)).length).toBe(10);
  });

test("a claim that arrives after it was taken back leases nothing", async () => {
  const ids = await addMany(3);
  let late: Promise<unknown> = Promise.resolve();
  const tokens: string[] = [];
  await new Promise<void>((resolve) => {
    const database = steppingDatabase(deps.database, async (step) => {
      if (step !== "statement") return;
      // Taken back while the claim is still on its way.
      const token = tokens[0] ?? "";
      expect(await revokeClaim(deps, "default", token)).toEqual({ given: [], locked: [] });
      resolve();
    });
    const watched = watchTokens(database, tokens);
    late = expect(claim({ ...deps, database: watched }, ids, claimer)).rejects.toThrow("claims_pkey");
  });
  await late;
  expect(await attempts()).toEqual([{ status: "queued", attempts: 0 }]);
});

test("jobs leased without limits are kept when the look at the limited queues fails", async () => {
  const ids = await addMany(2);
  await limit({ concurrency: 1 }, "limited");
  const { sql } = deps.database;
  await sql.begin(async (tx) => {
    await tx`LOCK TABLE atlasqueue.queue_starts IN ACCESS EXCLUSIVE MODE`;
    const both = { ...claimer, queues: ["default", "limited"] };
    const quick = openDatabase({ url: url(), connectionsMax: 2, timeoutMs: 500 });
    const leases = await claim({ ...deps, database: quick }, [...ids, randomUUID()], both);
    expect(leases.map(({ id }) => id)).toEqual(ids);
  });
});

test("leases are given back however long the database is away, or their row is locked", async () => {
  const leases = await claim(deps, await addMany(3), claimer);
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${leases[0]?.id ?? ""} FOR UPDATE`;
    const given = returns.release(leases);
    await eventually(async () =>
      expect(await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE status = 'queued'`).toHaveLength(2),
    );
    await stranger`SELECT 1`;
    void given.then((count) => expect(count).toBe(3));
  });
  await eventually(async () => expect(await attempts()).toEqual([{ status: "queued", attempts: 0 }]));
});

test("what is left at the deadline waits for its leases to end", async () => {
  const leases = await claim(deps, await addMany(1), claimer);
  const away = openDatabase({ url: "postgres://postgres@127.0.0.1:1/none", connectionsMax: 1, timeoutMs: 200 });
  const lost = createLeaseReleaser({ ...deps, database: away });
  const given = lost.release(leases);
  await lost.close(300);
  expect(await given).toBe(0);
  expect(recorded.named("database_unavailable")[0]).toMatchObject({ during: "giving leases back" });
});

test("what went back is signalled once, however often the rest of its claim is tried again", async () => {
  const leases = await claim(deps, await addMany(3), claimer);
  let tries = 0;
  const stepping = steppingDatabase(deps.database, (step, _number, text) => {
    if (step === "answer" && text.includes("AS given FROM held")) tries += 1;
  });
  const counted = createLeaseReleaser({ ...deps, database: stepping });
  await besideStranger([leases[0]?.id], async () => {
    counted.unanswered(leases[0]?.lease_token ?? "", "default");
    await eventually(() => expect(tries).toBeGreaterThan(2));
    expect(await deps.signal.look(main)).toMatchObject({ length: 2 });
  });
  await eventually(async () => expect(await deps.signal.look(main)).toMatchObject({ length: 3 }));
  await counted.close(0);
});

test("what is given back while a statement is under way goes together", async () => {
  const leases = await claim(deps, await addMany(100), claimer);
  let statements = 0;
  const counted = createLeaseReleaser({
    ...deps,
    database: steppingDatabase(deps.database, (step) => void (statements += step === "answer" ? 1 : 0)),
  });
  expect(await Promise.all(leases.map((lease) => counted.release([lease])))).toEqual(leases.map(() => 1));
  expect(statements).toBe(2);
  expect(await attempts()).toEqual([{ status: "queued", attempts: 0 }]);
  await counted.close(0);
});
