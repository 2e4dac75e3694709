import type { FlowJob } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { cliSystem } from "../../test/run-cli.ts";
import { treeOf } from "./tree.ts";

const system = forFile(cliSystem);

const run = (...words: string[]) => system.run("flows", ...words);

test("flows are listed, shown, cancelled and retried", async () => {
  const flow = system.client.flow();
  const load = flow.add({ type: "sales.load", ref: "load" });
  flow.add({ type: "sales.sum", ref: "sum", depends_on: [load] });
  const { id, jobs } = await flow.submit();
  const [first, second] = jobs.map((job) => job.id);
  expect((await run("list")).stdout).toMatch(new RegExp(`^${id}\\trunning\\t0/2\\t0\\t0\\t`));
  expect((await run("show", id ?? "")).stdout).toBe(
    `${first}\tload\tsales.load\tdefault\tqueued\t\n${second}\tsum\tsales.sum\tdefault\tblocked\t${first}\n`,
  );
  expect(JSON.parse((await run("show", id ?? "", "--json")).stdout)).toMatchObject({
    id,
    critical_path: [first, second],
  });
  const cancelled = await run("cancel", id ?? "");
  expect(cancelled).toMatchObject({ code: 0, stderr: expect.stringMatching(/^[12] jobs cancelled\n$/) });
  expect((await run("retry", id ?? "", "--json")).stdout).toMatch(/"changed":[12]/);
  expect(await run("show", "01920000-0000-7000-8000-000000000000")).toMatchObject({
    code: 1,
    stderr: "404 There is no flow with this id\n",
  });
  expect((await run("list", "--state", "asleep")).code).toBe(2);
});

const job = (ref: string, rest: Partial<FlowJob> = {}): FlowJob => ({
  id: `0192-${ref}`,
  ref,
  type: "t",
  queue: "q",
  status: "succeeded",
  depends_on: [],
  on_parent_failure: "cancel",
  attempts: 1,
  max_attempts: 5,
  last_error: null,
  started_at: null,
  finished_at: null,
  ...rest,
});

test("a person sees a tree: each job once, under the first it waits for", () => {
  const jobs = [
    job("a", { started_at: "2030-01-01T00:00:00.000Z", finished_at: "2030-01-01T00:00:02.500Z" }),
    job("b", { status: "dead", last_error: "Error: no \u001b[31mrow" }),
    job("sum", { status: "cancelled", depends_on: ["0192-a", "0192-b"] }),
    job("mail", { status: "blocked", depends_on: ["elsewhere-123456"] }),
  ];
  expect(treeOf(jobs).split("\n")).toEqual([
    "├─ a (t) succeeded in 2.5 s  0192-a",
    "│  └─ sum (t) cancelled, after b too  0192-sum",
    "├─ b (t) dead: Error: no  [31mrow  0192-b",
    "└─ mail (t) blocked, after 123456  0192-mail",
  ]);
});

test("a chain of a thousand is a tree too", () => {
  const jobs = Array.from({ length: 1_000 }, (_, at) =>
    job(`${at}`, at === 0 ? {} : { depends_on: [`0192-${at - 1}`] }),
  );
  expect(treeOf(jobs).split("\n")).toHaveLength(1_000);
});
