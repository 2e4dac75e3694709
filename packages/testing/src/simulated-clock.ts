import postgres from "postgres";

export type SimulatedClock = {
  /**
   * From the next statement on it stands still at this time, in every process that connected after the clock was made.
   */
  set(time: string | Date): Promise<void>;
  /** It runs on from this time, as fast as any clock. */
  letRun(from: string | Date): Promise<void>;
  stop(): Promise<void>;
};

/**
 * The database decides the time, so a test gives a database another clock: `now()` and `statement_timestamp()` stand still
 * or run as the test likes, which every connection opened from now on finds before PostgreSQL's own. Processes run as usual, and take
 * it for the real time.
 *
 * @example
 * const clock = await simulateClock(url, "2025-11-02T04:59:00Z");
 * await clock.set("2025-11-02T05:00:00Z");
 */
export async function simulateClock(url: string, start: string | Date): Promise<SimulatedClock> {
  const iso = (time: string | Date) => new Date(time).toISOString();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const name = new URL(url).pathname.slice(1);
  await sql.unsafe(`
    CREATE SCHEMA simulated;
    CREATE TABLE simulated.clock (at timestamptz NOT NULL, runs_since timestamptz);
    INSERT INTO simulated.clock VALUES ('${iso(start)}', NULL);
    CREATE FUNCTION simulated.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
      SELECT at + coalesce(pg_catalog.now() - runs_since, interval '0') FROM simulated.clock $$;
    CREATE FUNCTION simulated.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$
      SELECT at + coalesce(pg_catalog.statement_timestamp() - runs_since, interval '0') FROM simulated.clock $$;
    ALTER ROLE CURRENT_USER IN DATABASE "${name}" SET search_path TO simulated, pg_catalog, public;
    DO $$ DECLARE one regprocedure; BEGIN
      FOR one IN SELECT oid FROM pg_proc WHERE proconfig::text LIKE '%search_path%' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path TO simulated, pg_catalog', one);
      END LOOP;
    END $$;`);
  return {
    set: async (time) => void (await sql`UPDATE simulated.clock SET at = ${iso(time)}, runs_since = NULL`),
    letRun: async (from) =>
      void (await sql`UPDATE simulated.clock SET at = ${iso(from)}, runs_since = pg_catalog.clock_timestamp()`),
    stop: () => sql.end({ timeout: 1 }),
  };
}
