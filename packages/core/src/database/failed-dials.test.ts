import { fileURLToPath } from "node:url";
import { eventually, postgresUrl, spawnProcess } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { openDatabase, openProxy } from "../../test/opened.ts";
import { isUnavailable } from "./errors.ts";
import { migrateDatabase } from "./migrate.ts";

// The system refuses these as they are dialled, not later: there is no route to broadcast to, and no such path.
const refusedAtOnce = ["255.255.255.255:5432", "%2Fnowhere"];

test.each(refusedAtOnce)("a dial of %s that fails at once fails the query, again and again", async (host) => {
  const database = openDatabase({ url: `postgres://a:b@${host}/x`, connectionsMax: 2, timeoutMs: 2_000 });
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(database.sql`SELECT 1`.catch((error: unknown) => isUnavailable(error))).resolves.toBe(true);
});

test.each(refusedAtOnce)("a migration whose dial of %s fails at once rejects", async (host) => {
  await expect(migrateDatabase(`postgres://a:b@${host}/x`)).rejects.toSatisfy(isUnavailable);
});

test("of two hosts, the one after a dial that failed at once is used", async () => {
  const url = (await openProxy(postgresUrl())).url.replace(/@/, "@255.255.255.255:5432,");
  const database = openDatabase({ url, connectionsMax: 1, timeoutMs: 5_000 });
  await eventually(async () => expect(await database.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]));
});

const child = fileURLToPath(new URL("../../test/dial-without-files.ts", import.meta.url));

test("a process without a file to open fails its queries, and works again once it has one", async () => {
  const under = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"];
  const program = await spawnProcess(child, { under, args: [postgresUrl()] });
  expect(await program.waitForExit()).toEqual({ code: 0, signal: null });
  expect(program.lines).toEqual(["EMFILE", "EMFILE", "works"]);
});
