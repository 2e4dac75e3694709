import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { becomes, visit, type World } from "../world.ts";

/** What pages tell beyond ids, and how much of the screen they use. */
export function factTests(world: () => World): void {
  const opened = (path: string, width = 1_440) =>
    visit(world().browser, `${world().open.url}${path}`, { viewport: { width, height: 900 } });

  test("a replay says the error that it is of, also once none of its jobs is dead, and so does the audit log", async () => {
    const { client } = world().open;
    const payload = { to: "nobody@example.org", user: 4 };
    const { id } = await client.submit({ type: "mail.send", queue: "mails", max_attempts: 1, payload });
    await becomes(client, id, "dead");
    const [group] = (await client.deadLetters.groups({ type: "mail.send" })).items;
    const { type = "", fingerprint = "" } = group ?? {};
    const patch = { to: "ada@example.org" };
    const { id: replay } = await client.deadLetters.replays.create({ filter: { type, fingerprint }, patch });
    await eventually(async () => expect((await client.deadLetters.replays.get(replay)).state).toBe("done"));
    const later = await client.submit({ type: "mail.later", queue: "mails", delay_seconds: 3_600 });
    await client.cancel(later.id);
    const { page } = await opened("/ui/dead");
    await page.getByText("“Error: no such user ‹n› in ‹text›”").first().waitFor();
    await page.goto(`${world().open.url}/ui/activity`);
    const started = page.getByRole("row", { name: /Started a replay/ }).first();
    await started.getByText("type mail.send, patched, “Error: no such user ‹n› in ‹text›”").waitFor();
    await page
      .getByRole("row", { name: /Cancelled a job/ })
      .getByRole("link", { name: "mail.later" })
      .click();
    await page.getByRole("heading", { name: "mail.later" }).waitFor();
  });

  test("a worker shows its version, start, memory, pace, and what it runs now", async () => {
    const { client } = world().open;
    const before = await client.submit({ type: "report.build", queue: "reports" });
    await becomes(client, before.id, "succeeded");
    const slow = await client.submit({ type: "wait", queue: "reports", payload: { seconds: 60 } });
    await becomes(client, slow.id, "running");
    const { page } = await opened("/ui/workers", 1_920);
    const row = page.getByRole("row", { name: /running/ });
    const cell = (name: string) => row.locator(`[data-name="${name}"]`);
    await eventually(async () => {
      expect(await cell("version").textContent()).toMatch(/^\d+\.\d+\.\d+/);
      expect(await cell("memory").textContent()).toMatch(/^\d+ MiB$/);
      expect(Number(await cell("jobs /min").textContent())).toBeGreaterThan(0);
      expect(await cell("started").textContent()).toMatch(/ago|just now/);
    });
    // One slot is taken, and that is no warning.
    await row.getByRole("img", { name: /^Slots in use: 1 of 4$/ }).waitFor();
    await row.getByRole("link", { name: "wait" }).click();
    await page.getByRole("heading", { name: "wait" }).waitFor();
    await client.cancel(slow.id);
  });

  test("every page uses the width of the screen", async () => {
    for (const width of [1_440, 1_920]) {
      const { page } = await opened("/", width);
      for (const path of [
        "",
        "ui/queues",
        "ui/jobs",
        "ui/dead",
        "ui/schedules",
        "ui/workers",
        "ui/activity",
        "ui/settings",
      ]) {
        await page.goto(`${world().open.url}/${path}`);
        await page.locator(".card").first().waitFor();
        const right = await page.evaluate(
          "Math.max(...[...document.querySelectorAll('.card')].map((card) => card.getBoundingClientRect().right))",
        );
        expect(right, `${path} at ${width}`).toBeGreaterThan(width - 50);
      }
    }
  });

  test("a list shows what a payload says, and its rows are lower if one wishes", async () => {
    const { client } = world().open;
    const note = "where this job comes from and what it is for";
    const { id } = await client.submit({ type: "noted", queue: "mails", delay_seconds: 3_600, payload: { note } });
    const { page } = await opened("/ui/jobs?type=noted");
    const cell = page.getByRole("table", { name: "Jobs" }).getByText(note);
    await cell.waitFor();
    const is_whole = await cell.evaluate((each) => {
      const { clientWidth, scrollWidth } = each as unknown as Record<"clientWidth" | "scrollWidth", number>;
      return clientWidth === scrollWidth;
    });
    expect(is_whole).toBe(true);
    const height = async () => (await page.getByRole("row", { name: /noted/ }).boundingBox())?.height;
    expect(await height()).toBe(36);
    await page.goto(`${world().open.url}/ui/settings`);
    await page.getByRole("button", { name: "Compact" }).click();
    await page.goto(`${world().open.url}/ui/jobs?type=noted`);
    await cell.waitFor();
    expect(await height()).toBe(28);
    await client.cancel(id);
  });

  test("a list says how many jobs are in each status, of its queue or of all", async () => {
    const { client } = world().open;
    const jobs = await client.submitMany([1, 2].map((at) => ({ type: "counted", queue: "counted", payload: { at } })));
    await client.cancel(jobs[0]?.id ?? "");
    const { page } = await opened("/ui/jobs?queue=counted");
    const choice = page.getByRole("group", { name: "Status" });
    await choice.getByRole("button", { name: "Queued 1", exact: true }).waitFor();
    await choice.getByRole("button", { name: "Cancelled 1", exact: true }).click();
    await page.waitForURL(/status=cancelled/);
    await page.getByText(/^1 job, all there are/).waitFor();
    await page.goto(`${world().open.url}/ui/jobs?queue=counted&type=counted`);
    await choice.getByRole("button", { name: "Queued", exact: true }).waitFor();
    await client.cancel(jobs[1]?.id ?? "");
  });

  test("dead letters are drawn in one scale, what still happens first, and purging stands out", async () => {
    const hours = (at: number, jobs: number) => Array.from({ length: 24 }, (_, hour) => (hour === at ? jobs : 0));
    const seen = { first_seen: "2030-01-01T00:00:00.000Z", last_seen: "2030-01-01T00:00:00.000Z" };
    const group = {
      type: "mail.send",
      sample_job_id: "01a223f6-1d9d-73e7-8569-3be6d1dd6e68",
      count_complete: true,
      ...seen,
    };
    const over = { ...group, fingerprint: "0000000000000001", error: "Over: 1", count: 100, per_hour: hours(2, 100) };
    const still = { ...group, fingerprint: "0000000000000002", error: "Still: 1", count: 5, per_hour: hours(23, 5) };
    const { page } = await visit(world().browser, "about:blank");
    await page.route(/\/v1\/dlq\/groups/, (route) =>
      route.fulfill({ json: { items: [over, still], next_cursor: null } }),
    );
    await page.goto(`${world().open.url}/ui/dead`);
    const rows = page.getByRole("row", { name: /(Over|Still): 1/ });
    await rows.first().getByText("Still: 1").waitFor();
    const looks = await page.evaluate(`
      [...document.querySelectorAll(".dead-groups tbody tr")].map((row) => ({
        tallest: Math.max(...[...row.querySelectorAll("rect")].map((bar) => Number(bar.getAttribute("height")))),
        colours: new Set([...row.querySelectorAll("button")].map((button) => getComputedStyle(button).color)).size,
      }))
    `);
    expect(looks).toEqual([
      { tallest: 2, colours: 2 },
      { tallest: 22, colours: 2 },
    ]);
    // The browser says that it is on Linux.
    await page.getByText("Ctrl K").waitFor();
  });

  test("inside an application that signs people in, no page says that authentication is off", async () => {
    const { page } = await visit(world().browser, "about:blank");
    let auth = "disabled";
    await page.route(/\/v1\/session/, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), auth } });
    });
    await page.goto(`${world().open.url}/ui/settings`);
    await page.getByText("Authentication is off.").waitFor();
    auth = "application";
    await page.reload();
    await page.getByText("the application signs people in").waitFor();
    expect(await page.getByText("Authentication is off.").count()).toBe(0);
  });
}
