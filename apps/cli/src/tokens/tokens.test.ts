import { createdToken, tokenList } from "@atlasqueue/contract";
import { findTokens, hashToken } from "@atlasqueue/core/internal/http";
import { createDatabase, postgresUrl, testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { runCli } from "../../test/run-cli.ts";

const store = forFile(testDatabase);

const run = (words: string[], DATABASE_URL = store.url) => runCli(["tokens", ...words], { DATABASE_URL });
const find = async (token: string) =>
  (await findTokens({ database: store.database }, [hashToken(token)])).get(hashToken(token));

test("a token is made, and is all there is on stdout", async () => {
  const { code, stdout, stderr } = await run(["create", "--name", "ops", "--scopes", "admin, read"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^aq_[\w-]{49}\n$/);
  expect(stderr).toContain("ops");
  expect(stderr).not.toContain(stdout.trim());
  expect(await find(stdout.trim())).toMatchObject({ tenant: "default", scopes: ["admin", "read"] });
});

test("a token is made, listed, rotated and revoked, in JSON", async () => {
  const made = await run(["create", "--name", "ci", "--scopes", "submit", "--expires-in-seconds", "600", "--json"]);
  const first = createdToken.parse(JSON.parse(made.stdout));
  const rotated = await run(["rotate", first.id, "--overlap-seconds", "60", "--json"]);
  const second = createdToken.parse(JSON.parse(rotated.stdout));
  const listed = tokenList.parse(JSON.parse((await run(["list", "--json"])).stdout));
  expect(listed.items.slice(0, 2).map(({ id }) => id)).toEqual([second.id, first.id]);
  const { code, stdout, stderr } = await run(["revoke", second.id]);
  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toContain("within 5 s");
  expect(await find(second.token)).toBeUndefined();
  expect(await find(first.token)).toBeDefined();
});

test("a token is printed though its audit entry cannot be written", async () => {
  const { sql } = store.database;
  await sql`ALTER TABLE atlasqueue.audit_log RENAME TO audit_log_away`;
  try {
    const made = await run(["create", "--name", "unnoted", "--scopes", "read"]);
    expect(made.code).toBe(0);
    expect(await find(made.stdout.trim())).toBeDefined();
    expect(made.stderr).toContain("writing the audit entry failed");
  } finally {
    await sql`ALTER TABLE atlasqueue.audit_log_away RENAME TO audit_log`;
  }
});

test("the list is without the tokens", async () => {
  const token = (await run(["create", "--name", "shown", "--scopes", "work"])).stdout.trim();
  const { stdout } = await run(["list"]);
  const [newest = ""] = stdout.split("\n");
  expect(newest.split("\t").slice(1, 3)).toEqual([`${token.slice(0, 9)}…`, "work"]);
  expect(stdout).not.toContain(token);
});

test.each([
  [["revoke", "00000000-0000-4000-8000-000000000000"], "has no token"],
  [["rotate", "00000000-0000-4000-8000-000000000000"], "has no token"],
  [["create", "--name", "x", "--scopes", "read", "--tenant", "nobody"], 'there is no tenant "nobody"'],
])("what a person can fix is one line: %j", async (words, message) => {
  const { code, stdout, stderr } = await run(words);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(message);
  expect(stderr.trimEnd()).not.toContain("\n");
});

test("without the tables it says what to run", async () => {
  const empty = await createDatabase(postgresUrl());
  const { code, stderr } = await run(["list"], empty.url);
  expect(code).toBe(1);
  expect(stderr).toContain("atlasqueue migrate");
  await empty.drop();
});

test.each([
  [["create", "--name", "x"], "--scopes"],
  [["create", "--name", "x", "--scopes", "root"], "submit, read, work, metrics, admin"],
  [["revoke", "x"], "UUID"],
])("wrong usage is exit code 2: %j", async (words, message) => {
  const { code, stderr } = await run(words);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
