import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "@atlasqueue/harness";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { visit, type World } from "../world.ts";

type Build = { index: string; assets: ReadonlyMap<string, Buffer> };

/** The page as it was built, and as another version: the same, under other names. */
function twoBuilds(): { before: Build; after: Build } {
  const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
  const names = readdirSync(join(dist, "assets")).filter((name) => !/\.(br|gz)$/.test(name));
  const renamed = (text: string) => names.reduce((all, name) => all.replaceAll(name, `next-${name}`), text);
  const isText = (name: string) => /\.(js|css|html)$/.test(name);
  // As the API serves it at the root.
  const index = readFileSync(join(dist, "index.html"), "utf8").replaceAll('"./', '"/');
  const files = names.map((name) => [name, readFileSync(join(dist, "assets", name))] as const);
  return {
    before: { index, assets: new Map(files) },
    after: {
      index: renamed(index),
      assets: new Map(
        files.map(([name, content]) => [
          `next-${name}`,
          isText(name) ? Buffer.from(renamed(content.toString())) : content,
        ]),
      ),
    },
  };
}

const types: Record<string, string> = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Each request for a file of the page goes to the build that `pick` names; all others go to the API. */
async function serve(page: Page, pick: (path: string) => Build): Promise<void> {
  await page.route(/^[^?]*\/(assets\/[^/]*|ui[^?]*|)(\?.*)?$/, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const build = pick(path);
    if (!path.startsWith("/assets/"))
      return route.fulfill({ contentType: "text/html; charset=utf-8", body: build.index });
    const name = path.slice("/assets/".length);
    const body = build.assets.get(name);
    return body
      ? route.fulfill({ contentType: types[extname(name)] ?? "application/octet-stream", body })
      : route.fulfill({ status: 404, contentType: "application/problem+json", body: "{}" });
  });
}

/** What the page says before its script has run. */
const early = /This page did not load/;

/** Several versions of the dashboard behind one address, as during a rolling upgrade. */
export function upgradeTests(world: () => World): void {
  test("after an upgrade an open page keeps what it shows, finds pages and offers the new version", async () => {
    const { before, after } = twoBuilds();
    let now = before;
    const { page } = await visit(world().browser, "about:blank");
    await serve(page, () => now);
    await page.goto(`${world().open.url}/ui/queues`);
    const shown = page.getByRole("heading", { name: "Queues", exact: true });
    await shown.waitFor();
    now = after;
    await page.keyboard.press("?");
    const reload = page.getByRole("button", { name: "Reload" });
    await reload.waitFor();
    expect(await shown.count()).toBe(1);
    await page.keyboard.press("ControlOrMeta+k");
    const field = page.getByRole("combobox", { name: "Find a page, queue or id" });
    await field.fill("job");
    await page.getByRole("option", { name: /Jobs/ }).first().waitFor();
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    // Keys work after a dialog that did not come: it does not count as open.
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Paused" }).waitFor();
    await reload.click();
    await eventually(async () => expect(await reload.count()).toBe(0));
    await shown.waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
  });

  test("a button whose dialog is gone after an upgrade can be pressed again", async () => {
    const { before, after } = twoBuilds();
    let now = before;
    const { page } = await visit(world().browser, "about:blank");
    await serve(page, () => now);
    await page.goto(`${world().open.url}/ui/jobs`);
    const button = page.getByRole("button", { name: "New job" });
    await button.waitFor();
    now = after;
    await button.click();
    await page.getByRole("button", { name: "Reload" }).waitFor();
    now = before;
    await button.click();
    await page.getByRole("dialog", { name: "New job" }).waitFor();
  });

  test("a page of the new version before an API of the old one says so, and how to go on", async () => {
    const { before, after } = twoBuilds();
    let now = before;
    const { page } = await visit(world().browser, "about:blank");
    await serve(page, (path) => (path.startsWith("/assets/") ? now : after));
    await page.goto(`${world().open.url}/ui/queues`);
    await page.getByText(early).waitFor();
    now = after;
    await page.getByRole("link", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
    expect(await page.getByText(early).count()).toBe(0);
  });

  test("a page of another version than the API's loads anew by itself, once", async () => {
    const { after } = twoBuilds();
    const { page } = await visit(world().browser, "about:blank");
    let [pages, others] = [0, 1];
    await page.route(/\/ui\/queues$/, (route) => {
      pages += 1;
      if (pages > others) return route.fallback();
      return route.fulfill({ contentType: "text/html; charset=utf-8", body: after.index });
    });
    await page.goto(`${world().open.url}/ui/queues`);
    await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
    expect(pages).toBe(2);
    // Just now it was loaded anew: it says so instead.
    others = Infinity;
    await page.reload();
    await page.getByText(early).waitFor();
    expect(pages).toBe(3);
  });

  test("the palette takes the first keys and a paste, however slow the network is", async () => {
    const { before } = twoBuilds();
    const { page } = await visit(world().browser, "about:blank");
    let slow = Promise.resolve();
    await page.route(/\/assets\//, async (route) => {
      await slow;
      await route.fallback();
    });
    await serve(page, () => before);
    await page.goto(world().open.url);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const { promise, resolve } = Promise.withResolvers<void>();
    slow = promise;
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("sche");
    await page.keyboard.insertText("dules");
    const field = page.getByRole("combobox", { name: "Find a page, queue or id" });
    const typed = await field.inputValue({ timeout: 2_000 }).catch(() => "nothing, there is no field");
    resolve();
    expect(typed).toBe("schedules");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Schedules", exact: true }).waitFor();
  });
}

export function reloadTests(world: () => World): void {
  test("of 50 reloads during an upgrade none leaves the page blank", async () => {
    const { before, after } = twoBuilds();
    const { page } = await visit(world().browser, "about:blank");
    let [first, rest] = [before, before];
    await serve(page, (path) => (path.startsWith("/assets/") ? rest : first));
    const seen = new Set<string>();
    for (let at = 0; at < 50; at += 1) {
      first = at % 2 === 0 ? before : after;
      rest = at % 3 === 0 ? before : after;
      await page.goto(`${world().open.url}/ui/queues`);
      const text = () => page.locator("#page").textContent();
      await eventually(async () => expect((await text())?.trim()).toBeTruthy());
      if (first === rest) await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
      seen.add(early.test((await text()) ?? "") ? "text" : "page");
    }
    expect(seen).toEqual(new Set(["text", "page"]));
  });
}
