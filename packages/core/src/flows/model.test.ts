import { recordEvents, testDatabase, forFile } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { runFlowModel, type Mutant } from "../../test/flow-model.ts";
import { countDrift } from "../counts/job-checks.ts";

const own = forFile(testDatabase);
const empty = () => own.database.sql`
    TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.job_attempts, atlasqueue.job_groups, atlasqueue.queue_counts, atlasqueue.queue_changes,
             atlasqueue.flow_jobs, atlasqueue.flow_edges, atlasqueue.outbox`;
beforeEach(empty);

const seeds = Array.from({ length: 20 }, (_, at) => at + 1);

test.each(seeds)(
  "whatever happens to a flow, none starts too early and none is stranded (seed %i)",
  async (seed) => {
    await runFlowModel(own.database, seed);
    const deps = { database: own.database, observe: recordEvents().observe };
    expect((await countDrift(deps, 1_000)).drifted).toEqual([]);
  },
  60_000,
);

/** Versions with a fault that the model must find. */
const mutants: Record<string, Mutant> = {
  "an edge is counted twice": {
    replaces: [
      "(SELECT true FROM atlasqueue.flow_edges WHERE flow_edges.child = child.id LIMIT 1) AS waits",
      "(SELECT true FROM atlasqueue.flow_edges WHERE flow_edges.child = child.id OFFSET 1 LIMIT 1) AS waits",
    ],
  },
  "an edge is closed and the others looked for in one statement": {
    replaces: [
      "SELECT DISTINCT 'recheck_child', tenant, child::text FROM done",
      `SELECT DISTINCT 'recheck_child', tenant, child::text FROM done WHERE child IN (SELECT child FROM marked) OR NOT EXISTS (
         SELECT FROM atlasqueue.flow_edges AS other WHERE other.child = done.child AND (parent, child) NOT IN (SELECT parent, child FROM done))`,
    ],
  },
  "children are released before the commit": {
    beforeCommit: async (sql, id) => {
      await sql`
        WITH closed AS (DELETE FROM atlasqueue.flow_edges WHERE parent = ${id} RETURNING child)
        INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'recheck_child', 'default', child::text FROM closed`;
    },
  },
  "a cascade without memory": { replaces: ["SET cancelled_by = moved.failed_parent", "SET cancelled_by = NULL"] },
};

/** What the model says of a fault; anything else is a fault of the mutant. */
const findings = /may start, but|and should be|for ever|stranded/;

test.each(Object.keys(mutants))(
  "the model finds the fault: %s",
  async (name) => {
    for (const seed of seeds) {
      await empty();
      const found = await runFlowModel(own.database, seed, mutants[name]).then(() => undefined, String);
      if (found === undefined) continue;
      expect(found).toMatch(findings);
      return;
    }
    expect.fail(`${seeds.length} runs found nothing`);
  },
  120_000,
);
