import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startBrowser } from "../../api/test/browser.ts";
import { openPage } from "./world.ts";

// What a page costs the browser while it is left open, on a running system with something to do:
//   node apps/dashboard/test/refreshes.ts --url http://127.0.0.1:8000
const { values } = parseArgs({ options: { url: { type: "string", default: "http://127.0.0.1:8000" } } });
const pages = [
  "/",
  "/ui/queues",
  "/ui/jobs",
  "/ui/flows",
  "/ui/dead",
  "/ui/schedules",
  "/ui/workers",
  "/ui/activity",
  "/ui/settings",
];
/** Until the page is there and its first charts are drawn. */
const settle_ms = 4_000;
const watched_ms = 10_000;
const watchLongTasks = `window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: "longtask" });`;

const browser = await startBrowser();
process.stdout.write(
  "| page | answers in 10 s | ms of work for each | longest task above 50 ms |\n| --- | --: | --: | --: |\n",
);
for (const path of pages) {
  const { page, context } = await openPage(browser, "about:blank", { viewport: { width: 1_440, height: 900 } });
  let answers = 0;
  page.on("response", (answer) => {
    if (/\/v1\/(?!events)/.test(answer.url())) answers += 1;
  });
  await page.goto(values.url + path);
  await page.locator("main h1").waitFor();
  await sleep(settle_ms);
  const browserTools = await context.newCDPSession(page);
  await browserTools.send("Performance.enable");
  const workedMs = async () => {
    const { metrics } = await browserTools.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
  await page.evaluate(watchLongTasks);
  answers = 0;
  const before = await workedMs();
  await sleep(watched_ms);
  const each = ((await workedMs()) - before) / Math.max(1, answers);
  const longest = Number(await page.evaluate("window.longest"));
  process.stdout.write(
    `| ${path} | ${answers} | ${each.toFixed(0)} | ${longest === 0 ? "none" : longest.toFixed(0)} |\n`,
  );
  await context.close();
}
await browser.close();
