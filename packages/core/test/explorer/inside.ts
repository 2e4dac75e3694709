import { setTimeout as delay } from "node:timers/promises";
import type { TestDatabase } from "@atlasqueue/harness";
import { connectDatabase, type Database } from "../../src/database/connect.ts";
import { keptTables } from "../kept-tables.ts";

/** Any two numbers that nothing else uses for a lock in this database. */
const gate = "1, 20261126";
const look_ms = 5;

/** A database whose statements can be stopped inside. */
export type Inside = {
  /** For the move that is stopped. */
  database: Database;
  /** The next statements stop, until they are let go on. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** The process of the statement that has stopped; none when the move ended without reading a row. */
  stopped(move: Promise<unknown>): Promise<number | undefined>;
  end(): Promise<void>;
};

/**
 * A way to stop a statement between its snapshot and the first row it reads, before it has locked any: what others commit
 * meanwhile it does not see, and meets only when it locks their rows.
 *
 * Row-level security asks a function about each row before anything else is done with it. The owner of the test's
 * database is a superuser, who is never asked: the move beside it, and whoever looks on, go past.
 */
export async function insideStatements({ url, database: { sql } }: TestDatabase): Promise<Inside> {
  const role = `stopped_${new URL(url).pathname.slice(1)}`;
  await sql.unsafe(`
    CREATE FUNCTION stop_here() RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_lock_shared(${gate});
        -- A transaction may have more statements.
        PERFORM pg_advisory_unlock_shared(${gate});
        RETURN true;
      END $$;
    CREATE ROLE ${role} LOGIN PASSWORD '${role}';
    GRANT USAGE ON SCHEMA atlasqueue TO ${role};
    GRANT ALL ON ALL TABLES IN SCHEMA atlasqueue TO ${role};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA atlasqueue TO ${role};
    GRANT ALL ON ALL FUNCTIONS IN SCHEMA atlasqueue TO ${role};
    -- Those with the owner's rights would never stop.
    DO $$ DECLARE one regprocedure; BEGIN
      FOR one IN SELECT oid FROM pg_proc WHERE prosecdef AND pronamespace = 'atlasqueue'::regnamespace LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY INVOKER', one);
      END LOOP;
    END $$;`);
  for (const table of keptTables)
    await sql.unsafe(`
      ALTER TABLE atlasqueue.${table} ENABLE ROW LEVEL SECURITY;
      CREATE POLICY stop ON atlasqueue.${table} USING (stop_here()) WITH CHECK (true);`);
  const asked = new URL(url);
  asked.username = role;
  asked.password = role;
  const database = connectDatabase({ url: asked.href, connectionsMax: 4, timeoutMs: 15_000 });
  // One connection, as its lock is the session's.
  const gatekeeper = connectDatabase({ url, connectionsMax: 1, timeoutMs: 15_000 });
  return {
    database,
    close: async () => void (await gatekeeper.sql.unsafe(`SELECT pg_advisory_lock(${gate})`)),
    open: async () => void (await gatekeeper.sql.unsafe("SELECT pg_advisory_unlock_all()")),
    async stopped(move) {
      let over = false;
      const ended = () => void (over = true);
      move.then(ended, ended);
      for (;;) {
        const [waiting] = await sql<{ pid: number }[]>`
          SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        if (waiting || over) return waiting?.pid;
        await delay(look_ms);
      }
    },
    async end() {
      await database.close();
      await gatekeeper.close();
      await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role};`);
    },
  };
}
