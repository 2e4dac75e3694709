import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { eventually } from "@atlasqueue/testing";
import type { AxeResults } from "axe-core";
import { expect, test } from "vitest";
import { visit, type World } from "../world.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const paths = [
  "/",
  "/ui/queues",
  "/ui/queues/mails",
  "/ui/jobs",
  "/ui/dead",
  "/ui/schedules",
  "/ui/workers",
  "/ui/activity",
  "/ui/settings",
];

/** WCAG 2.2 A and AA, as far as a program can tell, on every page in both themes. */
export function axeTests(world: () => World): void {
  test.each(["light", "dark"] as const)("axe finds nothing wrong in the %s theme", async (colorScheme) => {
    const { url, client } = world().open;
    const page_of_job = `/ui/jobs/${(await client.page({ status: "dead", limit: 1 })).items[0]?.id ?? ""}`;
    // Not through a script element, which the page's policy refuses.
    const { page, context } = await visit(world().browser, url, { colorScheme, bypassCSP: true });
    for (const path of [...paths, page_of_job]) {
      await page.goto(`${url}${path}`);
      await page.locator("main h1").waitFor();
      await eventually(async () => (await page.locator(".loading").count()) === 0);
      expect(await faults(page), path).toEqual([]);
    }
    await page.goto(`${url}/ui/jobs`);
    await page.getByRole("button", { name: "New job" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await faults(page), "the dialog").toEqual([]);
    const guarded = await visit(world().browser, world().guarded.url, { colorScheme, bypassCSP: true });
    await guarded.page.getByLabel("API token").waitFor();
    expect(await faults(guarded.page), "sign-in").toEqual([]);
    await Promise.all([context.close(), guarded.context.close()]);
  });
}

async function faults(page: Awaited<ReturnType<typeof visit>>["page"]): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })`,
  );
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${html} ${failureSummary}`)
        .join(" | ")}`,
  );
}
