import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { visit, visitInTime, type World } from "../world.ts";

/** The least time between two answers, and some more. */
const between_ms = 2_100;

/** How the page learns what happens. */
export function liveTests(world: () => World): void {
  test("what happens is on the page before it would have asked by itself: the API's events tell it", async () => {
    const { client, url } = world().open;
    const { page } = await visit(world().browser, "about:blank");
    await page.clock.install();
    const events = page.waitForResponse(/\/v1\/events/);
    await page.goto(`${url}/ui/jobs?type=told`);
    expect((await events).status()).toBe(200);
    await page.getByText("No job matches").waitFor();
    // From here on the page's time is ours: no poll comes before we let it.
    // A longer leap would end the connection, whose silence is timed.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 2_000);
    await client.submit({ type: "told", queue: "elsewhere" });
    let went_ms = 0;
    await eventually(async () => {
      // However late the event is told: the page must draw, and may not come to the 10 s after which it asks by itself.
      const step_ms = went_ms < between_ms ? 100 : 1;
      await page.clock.runFor(step_ms);
      went_ms += step_ms;
      expect(await page.getByRole("link", { name: "told" }).count()).toBe(1);
    });
  });

  test("without events the page asks by itself, and listens again when it can", async () => {
    const { client, url } = world().open;
    const { page, leapUntil } = await visitInTime(world().browser, "about:blank", /\/v1\/jobs/);
    await page.route(/\/v1\/events/, (route) => route.abort());
    await page.goto(`${url}/ui/jobs?type=asked`);
    await page.getByText("No job matches").waitFor();
    await client.submit({ type: "asked", queue: "elsewhere" });
    await leapUntil(async () => expect(await page.getByRole("link", { name: "asked" }).count()).toBe(1));
    const events = page.waitForResponse(/\/v1\/events/);
    await page.unroute(/\/v1\/events/);
    await page.clock.fastForward(60_000);
    expect((await events).status()).toBe(200);
  });

  test("a page whose refresh is paused does not listen", async () => {
    const { page } = await visit(world().browser, "about:blank");
    const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/v1/events"));
    const events = page.waitForResponse(/\/v1\/events/);
    await page.goto(`${world().open.url}/ui/queues`);
    await events;
    await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
    await page.keyboard.press("p");
    await ended;
  });
}
