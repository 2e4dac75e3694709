import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { eventually } from "@atlasqueue/harness";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { submitFlow } from "../submit-flow.ts";
import { visit, type World } from "../world.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const paths = [
  "/",
  "/ui/queues",
  "/ui/queues/mails",
  "/ui/jobs",
  "/ui/flows",
  "/ui/dead",
  "/ui/schedules",
  "/ui/workers",
  "/ui/activity",
  "/ui/settings",
];

async function axePage({ browser }: World) {
  // Not through a script element, which the page's policy refuses.
  const visited = await visit(browser, "about:blank", { bypassCSP: true });
  await visited.page.addInitScript(axe);
  return visited;
}

/** WCAG 2.2 A and AA, as far as a program can tell, on every page in both themes: a page is loaded once for both. */
export function axeTests(world: () => World): void {
  test("axe finds nothing wrong on any page, light or dark", async () => {
    const { url, client } = world().open;
    const page_of_job = `/ui/jobs/${(await client.page({ status: "dead", limit: 1 })).items[0]?.id ?? ""}`;
    const flow = await submitFlow(world().open.client, [
      { ref: "load", step: "dies" },
      { ref: "sum", step: "stays", after: ["load"], on_parent_failure: "wait" },
    ]);
    const { page } = await axePage(world());
    for (const path of [...paths, page_of_job, `/ui/flows/${flow.id}`]) {
      await page.goto(`${url}${path}`);
      await page.locator("main h1").waitFor();
      await eventually(async () => (await page.locator(".loading").count()) === 0);
      await expectNoFaults(page, path);
    }
    await page.goto(`${url}/ui/jobs`);
    await page.getByRole("button", { name: "New job" }).click();
    await page.getByRole("dialog").waitFor();
    await expectNoFaults(page, "the dialog");
    await page.goto(world().guarded.url);
    await page.getByLabel("API token").waitFor();
    await expectNoFaults(page, "sign-in");
  });
}

export function axeWidthTests(world: () => World): void {
  test("axe finds nothing wrong at any width", async () => {
    const { url } = world().open;
    const { page } = await axePage(world());
    for (const width of [390, 720, 1_280, 1_920])
      for (const path of ["/ui/queues", "/ui/jobs", "/ui/dead", "/ui/schedules", "/ui/workers", "/ui/activity"]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${url}${path}`);
        await page.locator("main h1").waitFor();
        await eventually(async () => (await page.locator(".loading").count()) === 0);
        await expectNoFaults(page, `${path} at ${width}`);
      }
  });
}

/** What is looked for in each theme: from one to the other only colours change. */
const themes = [
  ["light", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]],
  ["dark", ["color-contrast", "link-in-text-block"]],
] as const;

async function expectNoFaults(page: Page, what: string): Promise<void> {
  for (const [colorScheme, rules] of themes) {
    await page.emulateMedia({ colorScheme });
    expect(await faults(page, rules), `${what}, ${colorScheme}`).toEqual([]);
  }
}

async function faults(page: Page, rules: readonly string[]): Promise<string[]> {
  const options = JSON.stringify({ runOnly: rules });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${html} ${failureSummary}`)
        .join(" | ")}`,
  );
}
