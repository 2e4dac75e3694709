import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { connectDatabase } from "../connect.ts";
import { requireSchema } from "../schema-state.ts";

test("a role that lacks rights on tables of ours is refused at a program's start, with their names", async () => {
  const own = await testDatabase();
  const { sql } = own.database;
  const role = `lacking_${process.pid}`;
  await sql.unsafe(`
    CREATE ROLE ${role} LOGIN PASSWORD 'lacking';
    GRANT USAGE ON SCHEMA atlasqueue TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA atlasqueue TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA atlasqueue TO ${role}`);
  const url = Object.assign(new URL(own.url), { username: role, password: "lacking" });
  const database = connectDatabase({ url: url.href, connectionsMax: 1, timeoutMs: 10_000 });
  onTestFinished(async () => {
    await database.close();
    await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await own.drop();
  });
  await requireSchema(database);
  await sql.unsafe(`
    REVOKE UPDATE, DELETE ON atlasqueue.schedules, atlasqueue.tokens FROM ${role};
    REVOKE SELECT ON atlasqueue.audit_log FROM ${role};
    REVOKE ALL ON SEQUENCE atlasqueue.job_attempts_id_seq FROM ${role}`);
  await expect(requireSchema(database)).rejects.toThrow(
    `DATABASE_URL: the role ${role} lacks SELECT on audit_log; USAGE on job_attempts_id_seq; UPDATE, DELETE on schedules, tokens. ` +
      `Run \`atlasqueue migrate --grant ${role}\` as the owner`,
  );
});

test("rights are looked up with any plan, as one of a database with a hundred of our schemas", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const database = connectDatabase({ url: own.url, connectionsMax: 1, timeoutMs: 10_000 });
  onTestFinished(() => database.close());
  // Then all that depends on our tables is read before it is known which of it is a sequence.
  database.chooseSettings({ enable_nestloop: "off" });
  await requireSchema(database);
});
