import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { createDatabase, redisUrl, spawnProcess, testDatabase, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { dataFolder, mainFile, startEnv } from "../../test/run-start.ts";

const database = forFile(testDatabase);

/** Runs a command that must fail with code 1, and returns its only output: one line on stderr. */
async function failure(args: string[], env: Record<string, string | undefined>): Promise<string> {
  const folder = dataFolder();
  onTestFinished(folder.remove);
  const failed = await spawnProcess(mainFile, { args, env: { ...startEnv(folder.path), ...env } });
  expect(await failed.waitForExit(15_000)).toEqual({ code: 1, signal: null });
  expect(failed.lines).toEqual([]);
  expect(failed.errorLines).toHaveLength(1);
  return failed.errorLines[0] as string;
}

async function takenPort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return String((server.address() as AddressInfo).port);
}

const given = () => ({ DATABASE_URL: database.url, REDIS_URL: redisUrl() });

test.each(["API_PORT", "WORKER_METRICS_PORT"])(
  "start with a %s in use is one line that names it",
  { tags: ["nightly"] },
  async (name) => {
    const port = await takenPort();
    const line = await failure(["start"], { ...given(), [name]: port });
    expect(line).toBe(`127.0.0.1:${port} is in use; stop what listens there, or set ${name} to another port`);
  },
);

test("migrate says what it did, and what it needs", { tags: ["nightly"] }, async () => {
  const migrated = await spawnProcess(mainFile, { args: ["migrate"], env: given() });
  expect(await migrated.waitForExit()).toEqual({ code: 0, signal: null });
  expect(migrated.lines).toEqual([expect.stringMatching(/has the newest tables in the schema atlasqueue$/)]);
  expect(await failure(["migrate"], {})).toMatch(/^DATABASE_URL is not set; it must be a URL/);
  expect(await failure(["migrate"], { DATABASE_URL: "postgres://127.0.0.1:1/x" })).toContain("cannot be reached");
});

test("migrate as a role that may not, or on a read-only server, is one line", { tags: ["nightly"] }, async () => {
  const empty = await createDatabase(database.url);
  onTestFinished(() => empty.drop());
  const owner = database.database.sql;
  const role = `poor_${empty.name}`;
  await owner.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'poor'`);
  onTestFinished(async () => void (await owner.unsafe(`DROP ROLE ${role}`)));
  const url = new URL(empty.url);
  [url.username, url.password] = [role, "poor"];
  expect(await failure(["migrate"], { DATABASE_URL: url.href })).toBe(
    `the role in DATABASE_URL lacks a right: permission denied for database ${empty.name}`,
  );
  await owner.unsafe(`ALTER DATABASE ${empty.name} SET default_transaction_read_only = on`);
  expect(await failure(["migrate"], { DATABASE_URL: empty.url })).toMatch(
    /^the database in DATABASE_URL takes no writes: cannot execute/,
  );
});

test.each([[["submit", "a", "[]"]], [["nope"]]])("wrong usage %j is exit code 2", async (args) => {
  const wrong = await spawnProcess(mainFile, { args });
  expect(await wrong.waitForExit()).toEqual({ code: 2, signal: null });
  expect(wrong.lines).toEqual([]);
});
