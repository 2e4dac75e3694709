import { recordEvents, submission, testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { enqueue } from "../submit/enqueue.ts";
import { findBrokenJobs, jobChecks } from "./job-checks.ts";

const own = forFile(testDatabase);

/** For each check, what breaks it alone in the row of a queued job. */
const breaks = {
  jobs_status_known: "status = 'lost', ready_at = NULL",
  jobs_ready_at: "ready_at = NULL",
  jobs_due_at: "due_at = now()",
  jobs_expires_at: "status = 'cancelled', ready_at = NULL, expires_at = now()",
  jobs_dead_at: "dead_at = now()",
  jobs_group_seq: "group_seq = 1",
  jobs_active_group_key_open: "status = 'succeeded', ready_at = NULL, active_group_key = 'g'",
};

test.each(Object.entries(breaks))("a row that breaks %s is found, and refused in tests", async (check, set) => {
  const { sql } = own.database;
  await sql`TRUNCATE atlasqueue.jobs`;
  const outcomes = await enqueue({ ...own, observe: recordEvents().observe }, [submission({}), submission({})], {
    idempotency_ttl_seconds: 60,
  });
  const [id = ""] = outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  expect(await findBrokenJobs(own, 10)).toEqual({ jobs: 2, broken: [] });
  const breaking = () => sql.unsafe(`UPDATE atlasqueue.jobs SET ${set} WHERE id = $1`, [id]);
  await expect(breaking()).rejects.toThrow(check);
  await sql.unsafe(`ALTER TABLE atlasqueue.jobs DROP CONSTRAINT ${check}`);
  await breaking();
  expect(await findBrokenJobs(own, 10)).toEqual({ jobs: 2, broken: [{ id, check }] });
});

test("there is such a row for each check", () => expect(Object.keys(breaks)).toEqual(Object.keys(jobChecks)));
