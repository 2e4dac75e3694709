import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { visit, visitInTime, type World } from "../world.ts";

/** The page while its servers are away. */
export function linkTests(world: () => World): void {
  test("PostgreSQL goes and comes back: the page says so, keeps what it showed, and goes on by itself", async () => {
    const { page, leapUntil } = await visitInTime(world().browser, `${world().open.url}/ui/queues`, /\/v1\/queues/);
    await page.getByRole("link", { name: "mails" }).waitFor();
    world().postgres.refuse();
    await leapUntil(async () => expect(await page.getByText(/The database is unavailable since/).count()).toBe(1));
    expect(await page.getByRole("link", { name: "mails" }).count()).toBe(1);
    world().postgres.heal();
    await leapUntil(async () => expect(await page.getByText(/is unavailable since/).count()).toBe(0));
  });

  test("Redis goes and comes back: the overview says so", async () => {
    const { page, leapUntil } = await visitInTime(world().browser, world().open.url, /\/v1\/overview/);
    const problems = page.getByRole("region", { name: "What is wrong" });
    await problems.waitFor();
    world().redis.refuse();
    await leapUntil(async () => expect(await problems.getByText(/Redis/).count()).toBeGreaterThan(0));
    world().redis.heal();
    await leapUntil(async () => expect(await problems.getByText(/Redis/).count()).toBe(0));
  });

  test("what the API refuses to refresh stays, with a word on how old it is and why", async () => {
    const { page, leapUntil } = await visitInTime(world().browser, `${world().open.url}/ui/queues`, /\/v1\/queues/);
    await page.getByRole("link", { name: "mails" }).waitFor();
    const problem = { type: "about:blank", status: 429, title: "Too many", detail: "No more of this for now" };
    await page.route(/\/v1\/queues/, (route) => route.fulfill({ status: 429, json: problem }));
    await leapUntil(async () =>
      expect(await page.getByText(/Some of this is from .*: No more of this for now/).count()).toBe(1),
    );
    expect(await page.getByRole("link", { name: "mails" }).count()).toBe(1);
    await page.unroute(/\/v1\/queues/);
    await leapUntil(async () => expect(await page.getByText(/Some of this is from/).count()).toBe(0));
  });

  test("the API stops and starts: an act is rolled back with the reason, and the page finds the API again", async () => {
    const { page } = await visit(world().browser, `${world().open.url}/ui/queues`);
    const row = page.getByRole("row", { name: /mails/ });
    await row.getByRole("button", { name: "Pause" }).waitFor();
    await page.keyboard.press("p");
    await world().stopApi();
    await row.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Could not pause the queue: The API doesn't respond").waitFor();
    await row.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByText(/The API doesn't respond since/).waitFor();
    await world().startApi();
    await page.keyboard.press("p");
    await page.getByText(/doesn't respond since/).waitFor({ state: "detached" });
    await eventually(async () => (await row.getByRole("button", { name: "Pause" }).count()) === 1);
  });
}
