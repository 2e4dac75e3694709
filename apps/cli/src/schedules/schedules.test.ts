import { schedule } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { cliSystem } from "../../test/run-cli.ts";

const system = forFile(cliSystem);

const run = (...words: string[]) => system.run("schedules", ...words);
const inJson = async (...words: string[]) => schedule.parse(JSON.parse((await run(...words, "--json")).stdout));

test("a schedule is created, changed, paused, resumed and deleted", async () => {
  const job = ["report.send", '{"to":"a@b.c"}', "--queue", "mail", "--max-attempts", "2"];
  const created = await inJson("create", "report", "30 2 * * *", ...job, "--timezone", "Europe/Berlin");
  expect(created).toMatchObject({
    timezone: "Europe/Berlin",
    catch_up: "one",
    job: { queue: "mail", max_attempts: 2 },
  });
  const changed = await inJson("change", "report", "--cron", "0 5 * * *", "--catch-up", "all", "--priority", "7");
  expect(changed).toMatchObject({
    ...created,
    cron: "0 5 * * *",
    catch_up: "all",
    job: { ...created.job, priority: 7 },
    next_runs: expect.not.arrayContaining(created.next_runs),
    updated_at: expect.any(String),
  });
  expect(await inJson("pause", "report")).toMatchObject({ paused: true, next_runs: [] });
  expect((await run("list")).stdout).toContain("report\t0 5 * * *\tEurope/Berlin\tall\treport.send\tpaused\n");
  expect(await inJson("resume", "report")).toMatchObject({ paused: false, next_runs: changed.next_runs });
  const deleted = await run("delete", "report");
  expect(deleted).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("report is deleted") });
  const gone = await run("show", "report");
  expect(gone).toMatchObject({ code: 1, stdout: "", stderr: "404 There is no schedule with this name\n" });
});

test("a person sees the next five runs in the time zone's local time, and all schedules in a list", async () => {
  await run("create", "shown", "30 14 * * *", "noop", "--timezone", "Asia/Kolkata");
  const { stdout } = await run("show", "shown");
  expect(stdout).toMatch(/^cron +30 14 \* \* \*$/m);
  expect(stdout.match(/\d{4}-\d\d-\d\d 14:30\+05:30 {2}\d{4}-\d\d-\d\dT09:00:00\.000Z$/gm)).toHaveLength(5);
  const [line = ""] = (await run("list")).stdout.split("\n");
  expect(line.split("\t")).toEqual([
    "shown",
    "30 14 * * *",
    "Asia/Kolkata",
    "one",
    "noop",
    expect.stringMatching(/^\d{4}-\d\d-\d\d 14:30\+05:30$/),
  ]);
});

test("a refusal by the API is one line", async () => {
  const never = await run("create", "never", "0 0 30 2 *", "noop");
  expect(never).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^422 \/cron must be .+\n$/) });
  await run("create", "twice", "0 0 * * *", "noop");
  expect((await run("create", "twice", "0 0 * * *", "noop")).stderr).toMatch(/^409 .+\n$/);
  expect((await run("create", "few")).code).toBe(2);
});
