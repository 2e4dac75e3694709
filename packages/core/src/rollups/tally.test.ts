import { expect, test } from "vitest";
import { createTally } from "./tally.ts";

const job = { tenant: "default", queue: "mails", type: "mail.send" };

test("each queue and type is counted, and the sums over queues, over types and over all", () => {
  const tally = createTally();
  tally.submitted(job);
  tally.submitted({ ...job, queue: "reports" });
  tally.ended(job, "succeeded", 20, 300);
  tally.ended({ ...job, type: "mail.sort" }, "dead", 1, 2);
  tally.ended(job, "retried");
  const rows = tally.take();
  const of = (queue: string, type: string) => rows.find((row) => row.queue === queue && row.type === type);
  expect(rows).toHaveLength(3 + 2 + 2 + 1);
  expect(of("mails", "mail.send")).toMatchObject({ submitted: 1, succeeded: 1, failed: 1, retried: 1, dead: 0 });
  expect(of("mails", "")).toMatchObject({ submitted: 1, succeeded: 1, failed: 2, retried: 1, dead: 1 });
  expect(of("", "mail.send")).toMatchObject({ submitted: 2, succeeded: 1, failed: 1 });
  expect(of("", "")).toMatchObject({ submitted: 2, succeeded: 1, failed: 2, retried: 1, dead: 1 });
  expect(of("", "")?.waits.reduce((sum, count) => sum + count, 0)).toBe(2);
  expect(tally.take()).toEqual([]);
});

test("a tenant's types beyond the hundredth count as other, and another tenant's are none of its business", () => {
  let now = 0;
  const tally = createTally(() => now);
  for (let at = 0; at < 150; at += 1) tally.submitted({ ...job, type: `t${at}` });
  tally.submitted({ ...job, tenant: "acme", type: "t149" });
  const typesOf = (tenant: string) =>
    tally.take().filter((row) => row.tenant === tenant && row.queue === "" && row.type !== "");
  const types = typesOf("default");
  expect(types).toHaveLength(101);
  expect(types.find(({ type }) => type === "other")?.submitted).toBe(50);
  tally.submitted({ ...job, type: "new" });
  expect(typesOf("default").map(({ type }) => type)).toEqual(["other"]);
  // An hour later names are forgotten.
  now = 3_700_000;
  tally.take();
  tally.submitted({ ...job, type: "new" });
  expect(typesOf("default").map(({ type }) => type)).toEqual(["new"]);
});
