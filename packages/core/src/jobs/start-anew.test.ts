import { forFile, testCore } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { editAndRetry } from "./edit-and-retry.ts";
import { findJob } from "./find.ts";
import { retry } from "./retry.ts";

const deps = forFile(testCore);

const acts: Record<string, (id: string) => Promise<{ kind: string }>> = {
  "a retry": (id) => retry(deps, "default", id),
  "an edit": (id) => editAndRetry(deps, "default", id, { payload: { edited: true } }, 1_000),
};
const rows = {
  "the job": ["jobs", "id"],
  "its group": ["job_groups", "group_key"],
  "its wait": ["job_state", "job_id"],
};

test.each(
  Object.keys(acts).flatMap((act) =>
    Object.entries(rows).map(([what, [table = "", column = ""]]) => [act, what, table, column] as const),
  ),
)(
  "%s while another transaction has %s locked fails and changes nothing, and repeated it is done",
  async (name, _what, table, column) => {
    const { sql } = deps.database;
    const act = acts[name] as (typeof acts)[string];
    const { id } = await addFlow(deps, { id: {} });
    await sql`
      UPDATE atlasqueue.jobs SET status = 'dead', dead_at = now(), finished_at = now(), ready_at = NULL, has_steps = true, group_key = ${id}
      WHERE id = ${id}`;
    await sql`
      INSERT INTO atlasqueue.job_groups (tenant, queue, group_key, last_seq, admitted, heads) VALUES ('default', 'default', ${id}, 1, 0, '{}')`;
    await sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, at, until) VALUES ('default', ${id}, 'wait', 's', now(), now())`;
    await sql.begin(async (other) => {
      await other`SELECT FROM ${other(`atlasqueue.${table}`)} WHERE ${other(column)}::text = ${id} FOR UPDATE`;
      await expect(act(id)).rejects.toMatchObject({ code: "55P03" });
    });
    expect((await findJob(deps, "default", id))?.status).toBe("dead");
    expect((await act(id)).kind).toBe("retried");
    expect(await sql`SELECT FROM atlasqueue.job_state WHERE job_id = ${id}`).toEqual([]);
  },
);
