import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { firstIdAt } from "../maintenance/retention.ts";
import { forgetActs } from "./forget.ts";

const own = forFile(testDatabase);

test("acts of all tenants are forgotten in pages once they are older than they are kept", async () => {
  const { database } = own;
  for (const [tenant, hours_ago] of [
    ["a", 30],
    ["a", 26],
    ["a", 1],
    ["b", 25],
    ["c", 1],
  ] as const) {
    const id = firstIdAt(new Date(Date.now() - hours_ago * 3_600_000));
    await database.sql`
      INSERT INTO atlasqueue.audit_log (tenant, id, actor, action, finished) VALUES (${tenant}, ${id}, '{}', 'queue.pause', true)`;
  }
  expect([await forgetActs({ database }, 24, 2), await forgetActs({ database }, 24, 2)]).toEqual([2, 1]);
  expect(await forgetActs({ database }, 24, 2)).toBe(0);
  const left = await database.sql<{ tenant: string }[]>`SELECT tenant FROM atlasqueue.audit_log ORDER BY tenant`;
  expect(left.map(({ tenant }) => tenant)).toEqual(["a", "c"]);
});
