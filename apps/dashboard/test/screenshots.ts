import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { createClient } from "@atlasqueue/client";
import { eventually } from "@atlasqueue/harness";
import { startBrowser } from "../../api/test/browser.ts";
import { openPage } from "./world.ts";

// Pictures of every page of a running, seeded system, for the README and for a look with fresh eyes:
//   npx -y pnpm seed, then node apps/dashboard/test/screenshots.ts --url http://127.0.0.1:8000
const { values } = parseArgs({
  options: { url: { type: "string", default: "http://127.0.0.1:8000" }, only: { type: "string" } },
});
const folder = fileURLToPath(new URL("../screenshots/", import.meta.url));
const widths = [
  [1_440, 900],
  [390, 844],
] as const;

const client = createClient({ url: values.url });
const [dead] = (await client.page({ status: "dead", limit: 1 })).items;
const [flow] = (await client.flows.list({ limit: 1 })).items;
const queues = await client.queues();
const busiest = queues.toSorted((a, b) => b.counts.succeeded - a.counts.succeeded)[0]?.queue ?? "default";

const pages: Record<string, string> = {
  overview: "/",
  queues: "/ui/queues",
  queue: `/ui/queues/${busiest}`,
  jobs: "/ui/jobs",
  job: `/ui/jobs/${dead?.id ?? ""}`,
  flows: "/ui/flows",
  flow: `/ui/flows/${flow?.id ?? ""}`,
  "dead-letters": "/ui/dead",
  schedules: "/ui/schedules",
  workers: "/ui/workers",
  activity: "/ui/activity",
  settings: "/ui/settings",
};

mkdirSync(folder, { recursive: true });
const browser = await startBrowser();
for (const [width, height] of widths) {
  for (const colorScheme of ["light", "dark"] as const) {
    const options = { viewport: { width, height }, colorScheme };
    const { page, context } = await openPage(browser, "about:blank", options);
    // A connection that stays open is never idle.
    await page.route(/\/v1\/events/, (route) => route.abort());
    for (const [name, path] of Object.entries(pages)) {
      if (values.only !== undefined && values.only !== name) continue;
      await page.goto(values.url + path);
      await settled(page);
      await page.screenshot({ path: `${folder}${name}-${width}-${colorScheme}.png` });
    }
    await context.close();
  }
}
await browser.close();

/** Its answers are there, and its charts are drawn. */
async function settled(page: Page): Promise<void> {
  await page.locator("main h1").waitFor();
  await eventually(async () => (await page.locator(".loading").count()) === 0);
  for (const chart of await page.locator(".chart").all()) await chart.locator("canvas").waitFor();
  await page.evaluate("document.fonts.ready.then(() => {})");
  await page.waitForLoadState("networkidle");
}
