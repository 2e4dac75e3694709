import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { becomes, visit, type World } from "../world.ts";

/** As many as the page asks for at once. */
const groups_of_a_page = 200;

/** Lists that are long, ordered, or not at their end. */
export function listTests(world: () => World): void {
  const opened = (path: string) => visit(world().browser, `${world().open.url}${path}`);

  test("how long ago something was is by the server's clock, however wrong the browser's is", async () => {
    const { client } = world().open;
    const { id } = await client.submit({ type: "gone.clock", run_at: new Date(Date.now() + 3_600_000).toISOString() });
    const { page } = await visit(world().browser, "about:blank");
    await page.clock.setSystemTime(Date.now() + 600_000);
    await page.goto(`${world().open.url}/ui/jobs?type=gone.clock`);
    const row = page.getByRole("row", { name: /gone\.clock/ });
    await row
      .getByText(/^(just now|\d+ s ago)$/)
      .first()
      .waitFor();
    await client.cancel(id);
  });

  test("more groups of dead letters are shown when asked for, and one of them is purged after a look at its count", async () => {
    const { client } = world().open;
    // More than a page of types that nobody handles; the last one died twice.
    const types = Array.from({ length: groups_of_a_page + 1 }, (_, at) => `gone.${1_000 + at}`);
    const last = types.at(-1) ?? "";
    const jobs = await client.submitMany([...types, last].map((type) => ({ type, max_attempts: 1 })));
    for (const { id } of jobs) await becomes(client, id, "dead");
    const { page } = await opened("/ui/dead");
    const group = page.getByRole("row", { name: new RegExp(last) });
    const rows = page.getByRole("button", { name: "Purge this group" });
    await rows.first().waitFor();
    expect(await rows.count()).toBe(groups_of_a_page);
    await page.getByRole("button", { name: "Show more groups" }).click();
    await eventually(async () => expect(await rows.count()).toBeGreaterThan(groups_of_a_page));
    await group.getByRole("button", { name: "Purge this group" }).click();
    const dialog = page.getByRole("dialog", { name: "Purge" });
    await dialog.getByText("2 jobs", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await client.page({ status: "dead", type: last })).items).toHaveLength(2);
    await group.getByRole("button", { name: "Purge this group" }).click();
    await dialog.getByRole("button", { name: "Delete 2 jobs" }).click();
    await page.getByText("2 dead letters purged").waitFor();
    await group.waitFor({ state: "detached" });
    expect((await client.page({ status: "dead", type: last })).items).toEqual([]);
    await client.deadLetters.purge({ all: true });
  });

  test("queues are listed by the age of what waits", async () => {
    const { client } = world().open;
    // No worker takes from these.
    for (const queue of ["z-first", "a-second", "m-third"]) await client.submit({ type: "later", queue });
    const { page } = await opened("/ui/queues");
    const names = page.getByRole("table", { name: "Queues" }).getByRole("link");
    await names.filter({ hasText: "z-first" }).waitFor();
    await page.getByRole("button", { name: "Oldest waits" }).click();
    await page.waitForURL(/order=oldest/);
    await eventually(async () => {
      const shown = await names.allTextContents();
      expect(shown.indexOf("z-first")).toBeLessThan(shown.indexOf("a-second"));
      expect(shown.indexOf("a-second")).toBeLessThan(shown.indexOf("m-third"));
    });
    await page
      .getByRole("columnheader", { name: "Oldest waits" })
      .and(page.locator('[aria-sort="descending"]'))
      .waitFor();
  });

  test("the search says that Enter searches, and an id that is pasted there opens its job", async () => {
    const { client } = world().open;
    const { id } = await client.submit({ type: "found.by.id", queue: "elsewhere" });
    const { page } = await opened("/ui/jobs");
    const field = page.getByLabel("Search in payload, result and error");
    await field.fill("needle");
    await page.getByText("Enter searches").waitFor();
    await field.fill(id);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "found.by.id" }).waitFor();
  });

  test("a job's newest attempt shows its error, and equal ones before it are folded", async () => {
    const { client } = world().open;
    const payload = { to: "nobody@example.org" };
    const { id } = await client.submit({ type: "mail.send", queue: "mails", max_attempts: 3, payload });
    await becomes(client, id, "dead");
    const { page } = await opened(`/ui/jobs/${id}`);
    const error = page.getByText("no such user 17");
    await error.first().waitFor();
    await page.getByText("The same error as #3").waitFor();
    expect(await error.filter({ visible: true }).count()).toBe(1);
    await page.getByText("The same error as #3").click();
    expect(await error.filter({ visible: true }).count()).toBe(2);
  });

  test("a filter that found nothing yet says how far it looked, and looks further", async () => {
    const { client } = world().open;
    const { id } = await client.submit({ type: "rare", queue: "elsewhere" });
    const { page } = await visit(world().browser, "about:blank");
    const searched = { jobs: 20_000, back_to: new Date(Date.now() - 3_600_000).toISOString() };
    await page.route(/\/v1\/jobs\?.*type=rare/, (route) =>
      route.request().url().includes("cursor=")
        ? route.continue({ url: `${world().open.url}/v1/jobs?type=rare` })
        : route.fulfill({ json: { items: [], next_cursor: "further", searched } }),
    );
    await page.goto(`${world().open.url}/ui/jobs?type=rare`);
    await page.getByText("None in the newest 20,000 jobs looked at").waitFor();
    // An act on all that match would be of jobs that the page does not show.
    expect(await page.getByText("All that match").count()).toBe(0);
    await page.getByRole("button", { name: "Look further back" }).click();
    await page.locator(`a[href$="/ui/jobs/${id}"]`).first().waitFor();
    await page.getByText("All that match").waitFor();
  });

  test("a line of a chart is hidden and shown by its entry in the legend, also where lines have the same values", async () => {
    const { page } = await visit(world().browser, "about:blank");
    const times = { p50_ms: 100, p95_ms: 400, p99_ms: 400 };
    await page.route(/\/v1\/stats\/series/, async (route) => {
      const answer = await route.fetch();
      const series = (await answer.json()) as { items: object[]; total: object };
      const items = series.items.map((item) => ({ ...item, wait: times }));
      await route.fulfill({ json: { ...series, items, total: { ...series.total, wait: times } } });
    });
    await page.goto(world().open.url);
    const drawn = () =>
      page
        .locator(".chart canvas")
        .nth(1)
        .evaluate((canvas) => (canvas as unknown as { toDataURL(): string }).toDataURL());
    await eventually(async () => expect(await page.locator(".chart canvas").count()).toBe(3));
    // New figures would be another picture.
    await page.getByRole("button", { name: "Live" }).click();
    for (const name of ["p99", "p95", "p50"]) {
      const entry = page.getByRole("button", { name: new RegExp(`^${name}`) }).first();
      const whole = await drawn();
      await entry.click();
      expect(await entry.getAttribute("aria-pressed")).toBe("false");
      await eventually(async () => expect(await drawn(), name).not.toBe(whole));
      await entry.click();
      expect(await entry.getAttribute("aria-pressed")).toBe("true");
    }
  });
}
