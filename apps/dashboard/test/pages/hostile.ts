import type { FlowGraph } from "@atlasqueue/contract";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { submitFlow } from "../submit-flow.ts";
import { becomes, visit, type World } from "../world.ts";

const texts = [
  `<img src=x onerror="globalThis.struck = true">`,
  `</script><script>globalThis.struck = true</script>`,
  "مرحبا بالعالم \u202eevil\u202c",
  "🧨👩‍👩‍👧‍👦 Ω≈ç",
  "W".repeat(100_000),
];

/** Whatever a job holds is shown as text. */
export function hostileTests(world: () => World): void {
  test("markup, writing directions, endless words and emoji are text on every page", async () => {
    const { client, url } = world().open;
    const ids: string[] = [];
    for (const [at, text] of texts.entries()) {
      const type = at < 4 ? text.replaceAll("\u202e", "").replaceAll("\u202c", "").slice(0, 120) : "hostile";
      const { id } = await client.submit({
        type,
        group: text.replaceAll(/[\u202c\u202e]/g, "").slice(0, 60),
        max_attempts: 1,
        payload: { text, [text.slice(0, 200)]: [text.slice(0, 200)] },
      });
      ids.push(id);
      const failing = await client.submit({ type: "hostile", max_attempts: 1, payload: { text } });
      ids.push(failing.id);
    }
    for (const id of ids) await becomes(client, id, "dead");
    const flow = await submitFlow(
      client,
      texts.map((_, at) => ({ ref: `${at}`, step: "stays", ...(at > 0 && { after: [`${at - 1}`] }) })),
    );
    const { page, complaints } = await visit(world().browser, `${url}/ui/jobs?status=dead`);
    // The API takes no such names today.
    await page.route(/\/v1\/flows\//, async (route) => {
      const answer = await route.fetch();
      const shown = (await answer.json()) as FlowGraph;
      const items = shown.items.map((job, at) => ({ ...job, ref: texts[at], type: texts[at], last_error: texts[at] }));
      await route.fulfill({ json: { ...shown, items } });
    });
    await page
      .getByText(texts[0] ?? "?")
      .first()
      .waitFor();
    for (const id of ids) {
      await page.goto(`${url}/ui/jobs/${id}`);
      await page.getByRole("region", { name: "Payload" }).waitFor();
    }
    await page.getByRole("region", { name: "Payload" }).getByText("WWWW").first().waitFor();
    for (const path of [
      "/ui/flows",
      `/ui/flows/${flow.id}`,
      `/ui/flows/${flow.id}?view=table`,
      "/ui/dead",
      "/ui/queues",
      "/ui/workers",
      "/",
      "/ui/schedules",
      "/ui/activity",
      "/ui/settings",
    ]) {
      await page.goto(`${url}${path}`);
      await page.locator("main h1").waitFor();
      await eventually(async () => expect(await page.locator(".loading").count()).toBe(0));
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path).toBe(true);
    }
    expect(await page.evaluate("'struck' in globalThis")).toBe(false);
    expect(complaints).toEqual([]);
  });
}
