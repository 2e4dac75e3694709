import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { becomes, visit, type World } from "../world.ts";

/** Each page's main act, through the page and into the database. */
export function actTests(world: () => World): void {
  const opened = (path: string) => visit(world().browser, `${world().open.url}${path}`);

  test("a job made with the form runs, and its page shows its result", async () => {
    const { page, complaints } = await opened("/ui/jobs");
    await page.getByRole("button", { name: "New job" }).click();
    const form = page.getByRole("dialog", { name: "New job" });
    await form.getByLabel("Type").fill("report.build");
    await form.getByLabel("Queue").fill("reports");
    await form.getByLabel("Payload").fill('{"month": ');
    await form.getByText(/Payload is not JSON/).waitFor();
    expect(await form.getByRole("button", { name: "Submit" }).isEnabled()).toBe(false);
    await form.getByLabel("Payload").fill('{"month": "2026-11"}');
    await form.getByRole("button", { name: "Submit" }).click();
    await page.getByRole("heading", { name: "report.build" }).waitFor();
    await page.getByRole("region", { name: "Result" }).getByText("12480").waitFor();
    await page.getByText("#1 Succeeded").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a dead job's page says why, and retries it", async () => {
    const { client } = world().open;
    const { id } = await client.submit({
      type: "mail.send",
      queue: "mails",
      max_attempts: 1,
      payload: { to: "nobody@example.org" },
    });
    await becomes(client, id, "dead");
    const { page } = await opened(`/ui/jobs/${id}`);
    await page.getByRole("region", { name: "Last error" }).getByText("no such user 17").waitFor();
    await page.getByText("1 line of log").waitFor();
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    await page.getByText("The job is queued again").waitFor();
    await eventually(async () => (await page.getByText("#1 Failed").count()) === 2);
  });

  test("a dead job is edited, and runs with its new payload", async () => {
    const { client } = world().open;
    const payload = { to: "nobody@example.org", lang: "de", again: true };
    const { id } = await client.submit({ type: "mail.send", queue: "mails", max_attempts: 1, payload });
    await becomes(client, id, "dead");
    const { page } = await opened(`/ui/jobs/${id}`);
    await page.getByRole("button", { name: "Edit and retry" }).click();
    await page.getByRole("dialog").getByLabel("Payload").fill('{"to": "ada@example.org", "lang": "de", "cc": null}');
    await page.getByRole("button", { name: "Retry with this" }).click();
    await page.getByRole("region", { name: "Result" }).getByText("ada@example.org").waitFor();
    expect((await client.get(id)).payload).toEqual({ to: "ada@example.org", lang: "de", cc: null });
  });

  test("a question about one job is gone on the page of another, and a double click is one", async () => {
    const { client } = world().open;
    const later = { type: "mail.send", queue: "mails", delay_seconds: 3_600, payload: { to: "ada@example.org" } };
    const [first, second] = [await client.submit(later), await client.submit(later)];
    const { page } = await opened(`/ui/jobs/${first.id}`);
    await page.getByRole("button", { name: "Duplicate" }).click();
    await page.getByRole("dialog").waitFor();
    await page.evaluate(`history.pushState({}, "", "/ui/jobs/${second.id}")`);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Cancel job" }).dblclick();
    await page.getByText("The job is cancelled").waitFor();
    await page.getByRole("button", { name: "Retry", exact: true }).waitFor();
    expect([(await client.get(first.id)).status, (await client.get(second.id)).status]).toEqual([
      "scheduled",
      "cancelled",
    ]);
  });

  test("the address is the filter of the list, and chosen jobs are cancelled together", async () => {
    const { client } = world().open;
    const jobs = await client.submitMany(
      [1, 2, 3].map((n) => ({ type: "later", queue: "mails", delay_seconds: 3_600 + n })),
    );
    const { page } = await opened("/ui/jobs?status=scheduled&type=later");
    const rows = page.getByRole("table", { name: "Jobs" }).getByRole("checkbox", { name: /Select [0-9a-f]{8}-/ });
    await eventually(async () => (await rows.count()) === 3);
    await rows.first().click();
    await rows.last().click({ modifiers: ["Shift"] });
    await page.getByText("3 jobs selected").waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel 3 jobs" }).click();
    await page.getByText("3 jobs cancelled").waitFor();
    for (const { id } of jobs) await becomes(client, id, "cancelled");
    // What the page asks of the API is in its address: a search looks into payloads.
    await client.submit({ type: "later", queue: "mails", delay_seconds: 3_600, payload: { note: "find the needle" } });
    await page.getByLabel("Search in payload, result and error").fill("needle");
    await page.keyboard.press("Enter");
    await page.waitForURL(/search=needle/);
    await page.getByText(/^1 match in the newest/).waitFor();
    await page.getByText("All that match").waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel 1 job" }).click();
    await page.getByText("1 job cancelled").waitFor();
    await page.getByRole("group", { name: "Status" }).getByRole("button", { name: "Cancelled" }).click();
    await page.waitForURL(/status=cancelled/);
  });

  test("the row that the keys are on stays the same job as others come above it", async () => {
    const { client } = world().open;
    const later = { type: "keyed", queue: "mails", delay_seconds: 3_600 };
    const older = await client.submit(later);
    const { page } = await opened("/ui/jobs?status=scheduled&type=keyed");
    const boxOf = (id: string) => page.getByRole("checkbox", { name: `Select ${id}` });
    await boxOf(older.id).waitFor();
    await page.keyboard.press("j");
    const newer = await client.submit(later);
    await boxOf(newer.id).waitFor();
    await page.keyboard.press("x");
    await page.getByText("1 job selected").waitFor();
    expect([await boxOf(older.id).isChecked(), await boxOf(newer.id).isChecked()]).toEqual([true, false]);
  });

  test("a queue is paused from the list, limited and resumed from its page", async () => {
    const { client } = world().open;
    const paused = async () => (await client.queues()).find(({ queue }) => queue === "reports")?.paused;
    const { page } = await opened("/ui/queues");
    const row = page.getByRole("row", { name: /reports/ });
    await row.getByRole("button", { name: "Pause" }).click();
    await eventually(async () => (await paused()) === true);
    await page.getByRole("link", { name: "reports" }).click();
    await page.getByRole("button", { name: "Set limits" }).click();
    const form = page.getByRole("dialog", { name: "Limits of reports" });
    await form.getByLabel("Concurrency", { exact: true }).fill("7");
    await form.getByRole("button", { name: "Set limits" }).click();
    await page.getByText("The limits are set").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await eventually(async () => (await paused()) === false);
    const limits = (await client.queues()).find(({ queue }) => queue === "reports")?.limits;
    expect(limits).toMatchObject({ concurrency: 7, rate: null });
    // How much of its rate is used up; what waits goes with a purge, after a look at the count.
    await client.setLimits("paced", { rate: { limit: 2, period_seconds: 3_600 } });
    for (const delay_seconds of [60, 61, 62]) await client.submit({ type: "later", queue: "paced", delay_seconds });
    await page.goto(`${world().open.url}/ui/queues/paced`);
    await page.getByRole("img", { name: "Starts in the period: 0 of 2" }).waitFor();
    await page.getByRole("button", { name: "Purge" }).click();
    await page.getByLabel("Pause the queue first").check();
    await page.getByRole("button", { name: "Purge 3 jobs" }).click();
    await page.getByText("3 jobs purged").waitFor();
    expect((await client.queue("paced")).paused).toBe(true);
    await client.resume("paced");
    await client.setLimits("paced", {});
    await page.goto(`${world().open.url}/ui/queues`);
    await row.getByRole("img", { name: /succeeded in the last hour/ }).waitFor();
    await page.getByRole("link", { name: "Audit log" }).click();
    for (const done of ["Paused a queue", "Set limits", "Resumed a queue"])
      await page.getByRole("row", { name: new RegExp(`127.0.0.1 ${done}.*reports`) }).waitFor();
  });

  test("a group of dead letters is replayed with a patch, after a look at its count and a sample", async () => {
    const { client } = world().open;
    const jobs = await client.submitMany(
      [101, 102].map((user) => ({
        type: "mail.send",
        queue: "mails",
        max_attempts: 1,
        payload: { to: "nobody@example.org", user },
      })),
    );
    for (const { id } of jobs) await becomes(client, id, "dead");
    const { page } = await opened("/ui/dead?type=mail.send");
    const group = page.getByRole("row", { name: /no such user/ });
    await group.getByRole("button", { name: "Replay this group" }).click();
    const dialog = page.getByRole("dialog", { name: "Replay" });
    await dialog.getByLabel("Patch of the payload").fill('{"to": "ada@example.org"}');
    await dialog.getByRole("region", { name: "After" }).getByText("ada@example.org").waitFor();
    await dialog.getByLabel("Rate (jobs per second)").fill("500");
    const [since] = await client.submitMany([
      { type: "mail.send", queue: "mails", max_attempts: 1, payload: { to: "nobody@example.org", user: 103 } },
    ]);
    await becomes(client, since?.id ?? "", "dead");
    await dialog.getByRole("button", { name: /^Replay [1-9]/ }).click();
    for (const { id } of jobs) await becomes(client, id, "succeeded");
    await page.getByText("done", { exact: true }).waitFor();
    await page.getByText(/^500 a second · patched/).waitFor();
    // It died after the count.
    expect((await client.get(since?.id ?? "")).status).toBe("dead");
  });

  test("a schedule is made with its next runs in sight, and paused", async () => {
    const { client } = world().open;
    const { page } = await opened("/ui/schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("dialog", { name: "New schedule" });
    await form.getByLabel("Name").fill("nightly");
    await form.getByLabel("Cron").fill("61 * * * *");
    await form.locator(".preview .fault").waitFor();
    await form.getByLabel("Cron").fill("30 2 * * *");
    await form.getByLabel("Time zone").fill("Europe/Berlin");
    await eventually(async () => (await form.locator(".preview li").count()) === 5);
    await form.getByLabel("Job type").fill("report.build");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("nightly is saved").waitFor();
    const seen = await client.schedules.get("nightly");
    expect(seen).toMatchObject({ cron: "30 2 * * *", timezone: "Europe/Berlin", job: { type: "report.build" } });
    await page
      .getByRole("row", { name: /nightly/ })
      .getByRole("button", { name: "Run now" })
      .dblclick();
    await page.getByText("nightly has a job now").waitFor();
    await page.getByRole("button", { name: "Pause nightly" }).click();
    await eventually(async () => (await client.schedules.get("nightly")).paused);
    // A double click is one.
    expect((await client.page({ queue: "default", type: "report.build" })).items).toHaveLength(1);
  });

  test("the overview says what comes in and goes out, and the workers page who does it", async () => {
    const { page, complaints } = await opened("/");
    await page.getByRole("img", { name: "Jobs a second: in, out and failed attempts" }).locator("canvas").waitFor();
    await page.getByText("Jobs by status").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    await page.getByRole("heading", { name: "Workers", exact: true }).waitFor();
    await page.getByText("mail.send, report.build").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("dead l");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Dead letters", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
}
