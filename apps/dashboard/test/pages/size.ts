import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { visit, type World } from "../world.ts";

/** What keeps large things smooth is that little of them exists: that can be counted, on any machine. */
export function sizeTests(world: () => World): void {
  test("of a payload of 256 KB the first part is shown, and all of it in pieces when asked for", async () => {
    const { client, url } = world().open;
    const payload = { items: Array.from({ length: 2_300 }, (_, at) => ({ at, text: "x".repeat(80) })) };
    const { id } = await client.submit({ type: "large", queue: "elsewhere", payload });
    const text = JSON.stringify(payload, null, 2);
    const { page } = await visit(world().browser, `${url}/ui/jobs/${id}`);
    const shown = page.getByRole("region", { name: "Payload" });
    await shown.waitFor();
    expect((await shown.textContent())?.length).toBeLessThan(15_000);
    await page.getByRole("button", { name: /^Show all/ }).click();
    await eventually(async () =>
      expect((await shown.textContent())?.length).toBeGreaterThan(text.length - text.split("\n").length),
    );
    // The browser lays out those in sight: each is told to wait until it is.
    const pieces = await page.evaluate(
      `[...document.querySelectorAll("[aria-label=Payload] > *")].map((each) => getComputedStyle(each).contentVisibility)`,
    );
    expect(new Set(pieces as string[])).toEqual(new Set(["auto"]));
    await page.getByRole("button", { name: "Show less" }).click();
    await eventually(async () => expect((await shown.textContent())?.length).toBeLessThan(15_000));
  });

  test("of a thousand rows those in sight exist, and a choice draws its own row alone", async () => {
    const { client, url } = world().open;
    await client.submitMany(
      Array.from({ length: 1_000 }, (_, at) => ({ type: "row", queue: "elsewhere", payload: { at } })),
    );
    const { page } = await visit(world().browser, `${url}/ui/jobs?type=row`);
    const table = page.getByRole("table", { name: "Jobs" });
    for (let more = 200; more <= 1_000; more += 100) {
      await page.getByRole("button", { name: "Show more" }).click();
      await page.getByText(more === 1_000 ? /^1,000 jobs/ : `${more} jobs`, { exact: more < 1_000 }).waitFor();
    }
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
    await eventually(async () => expect(await table.getByText('{"at":500}').count()).toBe(1));
    expect(await table.getByRole("row").count()).toBeLessThan(80);
    await page.evaluate(`
      globalThis.drawn = new Set();
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const node = target instanceof Element ? target : target.parentElement;
          // Times go on by themselves.
          if (!node.closest("time")) globalThis.drawn.add(node.closest("[role=row]")?.getAttribute("aria-rowindex"));
        }
      }).observe(document.querySelector("[role=table]"), { subtree: true, childList: true, attributes: true, characterData: true });
    `);
    await table
      .getByRole("checkbox", { name: /Select [0-9a-f]{8}-/ })
      .nth(20)
      .click();
    await page.getByText("1 job selected").waitFor();
    expect(await page.evaluate("globalThis.drawn.size")).toBeLessThanOrEqual(2);
  });
}
