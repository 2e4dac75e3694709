// @module-tag slow
import { eventually, tcpProxy } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { connectDatabase } from "../database/connect.ts";
import { claim } from "./claim.ts";

const let_go_ms_max = 20_000;

const { deps, limit, url, add, addMany } = engineHarness();

/** What a client sends, cut after each statement: simple ones, and those that end in a Sync. */
function statementsOf(chunk: Buffer): Buffer[] {
  const statements: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < chunk.length;) {
    const type = chunk.toString("latin1", at, at + 1);
    at += 1 + chunk.readInt32BE(at + 1);
    if (type === "S" || type === "Q" || at >= chunk.length) statements.push(chunk.subarray(from, (from = at)));
  }
  return statements;
}

/** Claim like a process that stands still after a number of statements. False when it had no more to send. */
async function frozenAfter(
  questions: number,
  ids: string[],
  prepared_statements: boolean,
  meanwhile: () => Promise<void>,
): Promise<boolean> {
  const proxy = await tcpProxy(url());
  const database = connectDatabase({
    url: proxy.url,
    connectionsMax: 1,
    timeoutMs: 60_000,
    preparedStatements: prepared_statements,
  });
  let done = false;
  try {
    await database.sql`SELECT`;
    proxy.splitQuestions(statementsOf);
    const still = proxy.freezeAfterQuestions(questions);
    const claiming = claim({ ...deps, database }, ids, claimer).then(
      () => (done = true),
      () => {},
    );
    await Promise.race([still, claiming]);
    if (done) return false;
    await meanwhile();
    proxy.reset();
    await claiming;
  } finally {
    await database.close();
    await proxy.close();
  }
  return true;
}

// It has the most to send without prepared statements, as behind a pooler.
test("a process that stands still anywhere in a claim of a limited queue keeps no one from it for long", async () => {
  await limit({ concurrency: 1_000 });
  let questions = 0;
  const next = async (): Promise<boolean> =>
    frozenAfter((questions += 1), await add({}, {}), false, async () => {
      const [other = ""] = await add({});
      const look = async () => expect(await claim(deps, [other], claimer)).toHaveLength(1);
      await eventually(look, { timeout_ms: let_go_ms_max });
    });
  while (await next());
  expect(questions).toBeGreaterThan(5);
});

// The statement that takes the jobs: a queue with limits is met last.
test.each([
  { concurrency: null, questions: 1 },
  { concurrency: 1_000, questions: 6 },
])(
  "a process that stands still while megabytes of its claim's answer are on their way keeps no one from the jobs (limit: $concurrency)",
  { timeout: 120_000 },
  async ({ concurrency, questions }) => {
    await limit({ concurrency });
    const { sql } = deps.database;
    const ids = await addMany(400);
    // As long as errors may be, and together more than fits between the server and its client.
    await sql`UPDATE atlasqueue.jobs SET last_error = repeat('🙂', 4096)`;
    const unread = async () =>
      expect(
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'ClientWrite'`,
      ).toHaveLength(1);
    const stood = await frozenAfter(questions, ids, true, async () => {
      await eventually(unread);
      // The rows come free while a claim passes over them: that claim takes some, the next one the others.
      const taken: unknown[] = [];
      const look = async () => {
        taken.push(...(await claim(deps, ids, claimer)));
        expect(taken).toHaveLength(ids.length);
      };
      await eventually(look, { timeout_ms: let_go_ms_max });
    });
    expect(stood).toBe(true);
  },
);
