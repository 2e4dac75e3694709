/**
 * SQL for a trigger, `count_and_stop`, as if more than a few rows were too much for one statement: it never ends when it
 * touches more than `fits`, and takes some time to let go of them when it is cancelled.
 */
export const neverEndsAfter = (fits: number, when: `${string} ON ${string}`): string => `
  CREATE FUNCTION count_and_stop() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE seen int := coalesce(nullif(current_setting('test.seen', true), ''), '0')::int + 1;
  BEGIN
    PERFORM set_config('test.seen', seen::text, true);
    IF seen > ${fits} THEN
      BEGIN
        PERFORM pg_sleep(600);
      EXCEPTION WHEN query_canceled THEN
        PERFORM pg_sleep(0.2);
        RAISE;
      END;
    END IF;
    RETURN coalesce(NEW, OLD);
  END $$;
  CREATE TRIGGER count_and_stop BEFORE ${when} FOR EACH ROW EXECUTE FUNCTION count_and_stop()`;
