import { addJobChecks } from "@atlasqueue/harness";
import type { Sql } from "postgres";

/**
 * Has PostgreSQL note every transition of every job, in the transaction that makes it: so the notes are as durable as the jobs,
 * move with them to a standby, and say nothing of what was rolled back. Only for tests: it doubles what a move writes. Renewals of
 * leases are not noted. It also refuses rows of jobs that contradict themselves. Installed again it changes nothing.
 *
 * @example
 * await installAudit(sql);
 */
export async function installAudit(sql: Sql): Promise<void> {
  await addJobChecks(sql);
  await sql.unsafe(table);
  await sql.unsafe(note);
  await sql.unsafe(trigger);
}

// `seq` is the order of one job's moves, as its row is locked while it moves. Between jobs, `at` is: no job of a group may be
// claimed before the settlement of the one before has committed, and so has been noted. `asked_at` is when the statement came that
// moves it: how long that took is not what a rate is about. The schema is named, as the functions that submit look into no other.
const table = `
  CREATE TABLE IF NOT EXISTS public.faults_audit (
    seq bigserial PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    asked_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    transaction text NOT NULL DEFAULT pg_current_xact_id()::text,
    job uuid NOT NULL,
    tenant text NOT NULL,
    queue text NOT NULL,
    group_key text,
    nonce text,
    was text,
    status text,
    attempts smallint NOT NULL,
    max_attempts smallint NOT NULL,
    old_token uuid,
    token uuid,
    worker text,
    lease_left_ms float8,
    error text,
    dead_reason text,
    done_by_attempt int
  )`;

const note = `
  CREATE OR REPLACE FUNCTION faults_note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      INSERT INTO public.faults_audit (job, tenant, queue, group_key, nonce, status, attempts, max_attempts)
      VALUES (NEW.id, NEW.tenant, NEW.queue, NEW.group_key, NEW.payload ->> 'nonce', NEW.status, NEW.attempts, NEW.max_attempts);
    ELSIF TG_OP = 'DELETE' THEN
      INSERT INTO public.faults_audit (job, tenant, queue, group_key, was, attempts, max_attempts, old_token)
      VALUES (OLD.id, OLD.tenant, OLD.queue, OLD.group_key, OLD.status, OLD.attempts, OLD.max_attempts, OLD.lease_token);
    ELSE
      INSERT INTO public.faults_audit (job, tenant, queue, group_key, nonce, was, status, attempts, max_attempts, old_token, token, worker,
                                lease_left_ms, error, dead_reason, done_by_attempt)
      VALUES (NEW.id, NEW.tenant, NEW.queue, NEW.group_key,
              CASE WHEN NEW.payload::text <> OLD.payload::text THEN NEW.payload ->> 'nonce' END,
              OLD.status, NEW.status, NEW.attempts, NEW.max_attempts, OLD.lease_token, NEW.lease_token,
              coalesce(NEW.worker_id, OLD.worker_id),
              CASE WHEN OLD.status = 'running' THEN extract(epoch FROM OLD.locked_until - clock_timestamp()) * 1000 END,
              CASE WHEN OLD.status = 'running' THEN left(NEW.last_error, 60) END, NEW.dead_reason,
              CASE WHEN NEW.status = 'succeeded' AND json_typeof(NEW.result) = 'object'
                        AND json_typeof(NEW.result -> 'attempt') = 'number' THEN (NEW.result ->> 'attempt')::int END);
    END IF;
    RETURN NULL;
  END $$`;

const trigger = `
  CREATE OR REPLACE TRIGGER faults_note_made AFTER INSERT OR DELETE ON atlasqueue.jobs FOR EACH ROW EXECUTE FUNCTION faults_note();
  CREATE OR REPLACE TRIGGER faults_note_moved AFTER UPDATE ON atlasqueue.jobs FOR EACH ROW
  WHEN ((OLD.status, OLD.attempts, OLD.tenant) IS DISTINCT FROM (NEW.status, NEW.attempts, NEW.tenant)
        OR OLD.status = 'running' AND OLD.lease_token IS DISTINCT FROM NEW.lease_token)
  EXECUTE FUNCTION faults_note()`;
