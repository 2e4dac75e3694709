import { expect, test } from "vitest";
import { becomes, visit, type World } from "../world.ts";

const phone = { viewport: { width: 390, height: 844 } };

/** What a phone and half a screen show: everything, without scrolling sideways. */
export function narrowTests(world: () => World): void {
  test("on a phone rows are cards, and what is dead and how long jobs wait is on them", async () => {
    const { client, url } = world().open;
    await client.submit({ type: "later", queue: "narrow" });
    const { id } = await client.submit({ type: "gone.narrow", queue: "mails", max_attempts: 1 });
    await becomes(client, id, "dead");
    await client.schedules.put({ name: "narrow", cron: "0 3 * * *", job: { type: "report.build", queue: "reports" } });
    const { page } = await visit(world().browser, `${url}/ui/queues`, phone);
    for (const width of [390, 720]) {
      await page.setViewportSize({ width, height: 844 });
      for (const [path, shown] of [
        ["/ui/queues", page.getByRole("row", { name: /^narrow/ }).locator("[data-name=oldest]")],
        ["/ui/queues", page.getByRole("row", { name: /^mails/ }).locator("[data-name=dead]")],
        ["/ui/queues", page.getByRole("row", { name: /^narrow/ }).getByRole("button", { name: "Pause" })],
        ["/ui/jobs?type=gone.narrow", page.getByRole("table", { name: "Jobs" }).getByText("Dead")],
        ["/ui/dead", page.getByRole("row", { name: /gone\.narrow/ }).getByRole("button", { name: "Purge this group" })],
        ["/ui/dead", page.getByRole("row", { name: /gone\.narrow/ }).locator("[data-name=last]")],
        ["/ui/schedules", page.getByRole("row", { name: /narrow/ }).locator("[data-name=next]")],
        ["/ui/schedules", page.getByRole("row", { name: /narrow/ }).locator("[data-name=last]")],
      ] as const) {
        if (!page.url().endsWith(path)) await page.goto(url + path);
        await shown.first().waitFor();
        await shown.first().scrollIntoViewIfNeeded();
        const box = await shown.first().boundingBox();
        expect((box?.x ?? 9_999) + (box?.width ?? 0), `${path} at ${width}`).toBeLessThanOrEqual(width);
        // It is what a finger at its middle meets: nothing lies over it.
        const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
        await shown.first().evaluate((element) => element.setAttribute("data-found", ""));
        const met = `!!document.elementFromPoint(${x}, ${y})?.closest("[data-found]")`;
        expect(await page.evaluate(met), `${path} at ${width}`).toBe(true);
        await shown.first().evaluate((element) => element.removeAttribute("data-found"));
      }
    }
    await client.schedules.delete("narrow");
  });

  test("on a phone the filters of the jobs are folded", async () => {
    const { page } = await visit(world().browser, `${world().open.url}/ui/jobs?queue=mails`, phone);
    const type = page.getByLabel("Type", { exact: true });
    await page.getByRole("button", { name: "Filters (1)" }).waitFor();
    expect(await type.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Filters (1)" }).click();
    await type.fill("report.build");
    await page.keyboard.press("Enter");
    await page.waitForURL(/type=report/);
  });

  test("a queue whose jobs no worker takes is marked and listed first, under a total", async () => {
    const { client, url } = world().open;
    await client.submit({ type: "later", queue: "zz-alone" });
    const { id } = await client.submit({ type: "report.build", queue: "reports" });
    await becomes(client, id, "succeeded");
    const { page } = await visit(world().browser, `${url}/ui/queues`);
    const row = page.getByRole("row", { name: /^zz-alone/ });
    await row.getByText("No worker").waitFor();
    const names = await page.getByRole("table", { name: "Queues" }).getByRole("link").allTextContents();
    expect(names.indexOf("zz-alone")).toBeLessThan(names.indexOf("reports"));
    await page.getByRole("row", { name: /^\d+ queues/ }).waitFor();
    await page.getByRole("columnheader", { name: "In /min" }).waitFor();
  });

  test("jobs that wait for a flow are not shown as an empty table of groups", async () => {
    const { client, url } = world().open;
    const flow = client.flow();
    flow.add({ ref: "a", type: "step", queue: "waits-for-flow" });
    flow.add({ ref: "b", type: "step", queue: "waits-for-flow", depends_on: ["a"] });
    await flow.submit();
    const { page } = await visit(world().browser, `${url}/ui/queues/waits-for-flow`);
    await page.getByText("waits for other jobs of a flow").waitFor();
    expect(await page.getByText("Groups that are held").count()).toBe(0);
  });

  test("a problem of several queues leads to their list, and says for how long", async () => {
    const { url } = world().open;
    const { page } = await visit(world().browser, "about:blank");
    const overview = await world().open.client.stats.overview();
    const since = new Date(Date.now() - 2 * 3_600_000 - 60_000).toISOString();
    const detail = "Ready jobs wait in 4 queues that no worker serves: a, b, c, d";
    const one = { code: "queue_without_workers", severity: "error", detail, queue: "a", count: 4, since };
    await page.route(/\/v1\/overview/, (route) => route.fulfill({ json: { ...overview, problems: [one] } }));
    await page.goto(url);
    await page.getByText("for 2 h").waitFor();
    await page.getByRole("link", { name: "See the 4 queues" }).click();
    await page.waitForURL(/\/ui\/queues$/);
  });
}
