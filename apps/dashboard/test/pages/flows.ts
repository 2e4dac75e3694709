import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { submitFlow, type Step } from "../submit-flow.ts";
import { becomes, visit, type World } from "../world.ts";

/** load → three in parallel, of which one waits for a worker and one died → join, which waits for them → report. */
const sales: readonly Step[] = [
  { ref: "load", step: "succeeds" },
  { ref: "sum-north", step: "succeeds", after: ["load"] },
  { ref: "sum-east", step: "stays", after: ["load"] },
  { ref: "sum-south", step: "dies", after: ["load"] },
  { ref: "join", step: "stays", after: ["sum-north", "sum-east", "sum-south"], on_parent_failure: "wait" },
  { ref: "report", step: "stays", after: ["join"] },
];

/** Jobs that wait for one another: their list, their graph, and what can be done with them. */
export function flowTests(world: () => World): void {
  const opened = (path: string) => visit(world().browser, `${world().open.url}${path}`);

  test("flows are listed with how far they are, and the address says in which state", async () => {
    const { client } = world().open;
    const held = await submitFlow(client, [
      { ref: "a", step: "dies" },
      { ref: "b", step: "stays", after: ["a"], on_parent_failure: "wait" },
    ]);
    const failed = await submitFlow(client, [
      { ref: "a", step: "dies" },
      { ref: "b", step: "stays", after: ["a"] },
      { ref: "c", step: "succeeds" },
    ]);
    await becomes(client, failed.idOf("b"), "cancelled");
    const { page, complaints } = await opened("/");
    await page.getByText("Jobs by status").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    const row = (id: string) => page.getByRole("table", { name: "Flows" }).getByRole("row", { name: new RegExp(id) });
    await row(failed.id)
      .getByRole("img", { name: "3 of 3 jobs have ended, 1 succeeded, 1 dead, 1 cancelled" })
      .waitFor();
    await row(held.id).getByText("1 / 2").waitFor();
    await page.getByLabel("State").selectOption("held");
    await page.waitForURL(/\/ui\/flows\?state=held$/);
    await row(failed.id).waitFor({ state: "detached" });
    await row(held.id).getByText("Blocked").first().waitFor();
    await page.reload();
    await row(held.id).waitFor();
    expect(await row(failed.id).count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a page, queue or id" }).fill(failed.id);
    await page.getByRole("option", { name: /Flow$/ }).click();
    await page.getByRole("heading", { name: "Flow", exact: true }).waitFor();
    expect(page.url()).toContain(`/ui/flows/${failed.id}`);
    expect(complaints).toEqual([]);
  });

  test("more flows are shown when asked for, and without any the page says how to make one", async () => {
    const flows: string[] = [];
    for (let at = 0; at < 22; at += 1) {
      const steps: Step[] = [
        { ref: "a", step: "stays" },
        { ref: "b", step: "stays", after: ["a"] },
      ];
      flows.push((await submitFlow(world().open.client, steps)).id);
    }
    const { page } = await opened("/ui/flows");
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("link", { name: flows[0] ?? "?" }).waitFor();
    await page.route(/\/v1\/flows/, (route) => route.fulfill({ json: { items: [], next_cursor: null } }));
    await page.goto(`${world().open.url}/ui/flows`);
    await page.getByText("No flows yet").waitFor();
    await page.getByRole("region", { name: "Curl line" }).getByText("depends_on").waitFor();
  });

  test("a flow is drawn with its critical path, and each job leads to its page", async () => {
    const { id, idOf } = await submitFlow(world().open.client, sales);
    const { page, complaints } = await opened(`/ui/flows/${id}`);
    const graph = page.getByRole("region", { name: "Graph", exact: true });
    await graph.getByRole("link", { name: "sum-south Dead mail.send" }).waitFor();
    expect(await graph.getByRole("link").count()).toBe(6);
    const edges = graph.locator(".flow-edges > path");
    expect(await edges.count()).toBe(7);
    // load, sum-east, which has not run, join, and the report.
    expect(await graph.locator(".flow-node.critical").count()).toBe(4);
    expect(await graph.locator(".flow-edges > path.critical").count()).toBe(3);
    const places = await Promise.all(
      ["load", "join"].map(async (name) => (await graph.getByRole("link", { name }).boundingBox())?.x ?? 0),
    );
    expect(places[0]).toBeLessThan(places[1] ?? 0);
    const table = page.getByRole("table", { name: "Jobs of the flow" });
    await table.getByRole("row", { name: /^join critical Blocked step sum-north, sum-east, sum-south/ }).waitFor();
    await page.getByRole("region", { name: "What is wrong" }).getByText("no such user 17").waitFor();
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await page.waitForURL(/view=table/);
    expect(await graph.count()).toBe(0);
    await page.getByRole("button", { name: "Graph and table" }).click();
    await graph.getByRole("link", { name: "load" }).click();
    await page.waitForURL(new RegExp(`/ui/jobs/${idOf("load")}`));
    expect(complaints).toEqual([]);
  });

  test("what failed in a flow is retried, and a flow is cancelled", async () => {
    const { client } = world().open;
    const { id, idOf } = await submitFlow(client, sales);
    const { page } = await opened(`/ui/flows/${id}`);
    const row = (name: string) =>
      page.getByRole("table", { name: "Jobs of the flow" }).getByRole("row", { name: new RegExp(`^${name}`) });
    await page.getByRole("button", { name: "Retry what failed" }).click();
    await page.getByRole("dialog", { name: "Retry what failed?" }).getByRole("button", { name: "Retry" }).click();
    await page.getByText("1 job retried").waitFor();
    // It runs again, and dies again.
    await eventually(async () => expect(await client.attempts(idOf("sum-south"))).toHaveLength(2));
    await becomes(client, idOf("sum-south"), "dead");
    await page.getByRole("button", { name: "Cancel flow" }).click();
    await page.getByRole("button", { name: /^Cancel \d jobs/ }).click();
    await page.getByText("3 jobs cancelled").waitFor();
    await row("join").getByText("Cancelled").waitFor();
    expect((await client.flows.get(id)).counts).toMatchObject({ succeeded: 2, dead: 1, cancelled: 3 });
    expect(await page.getByRole("button", { name: "Cancel flow" }).count()).toBe(0);
  });

  test("an act on a flow shows at once, and is taken back with the reason when it is refused", async () => {
    const { id } = await submitFlow(world().open.client, sales);
    const { page } = await opened(`/ui/flows/${id}`);
    let refuse = () => {};
    const asked = new Promise<void>((resolve) => (refuse = resolve));
    await page.route(/\/cancel$/, async (route) => {
      await asked;
      await route.fulfill({
        status: 403,
        contentType: "application/problem+json",
        json: { type: "/problems/forbidden", title: "No", status: 403, detail: "Not on a Sunday", instance: "r-1" },
      });
    });
    await page.getByRole("button", { name: "Cancel flow" }).click();
    await page.getByRole("button", { name: "Cancel 3 jobs" }).click();
    const row = page.getByRole("table", { name: "Jobs of the flow" }).getByRole("row", { name: /^sum-east/ });
    await row.getByText("Cancelled").waitFor();
    refuse();
    await page.getByText("Could not cancel the flow: Not on a Sunday").waitFor();
    await row.getByText("Queued").waitFor();
  });

  test("a flow that was held goes on when what failed is mended, and its page follows it to the end", async () => {
    const { client } = world().open;
    const flow = client.flow();
    const nobody = { to: "nobody@example.org" };
    const mail = flow.add({ ref: "mail", type: "mail.send", queue: "mails", max_attempts: 1, payload: nobody });
    const report = { ref: "report", type: "report.build", queue: "reports" };
    flow.add({ ...report, depends_on: [mail], on_parent_failure: "wait" });
    const { id, jobs } = await flow.submit();
    const { page } = await opened(`/ui/flows/${id}`);
    const graph = page.getByRole("region", { name: "Graph", exact: true });
    const wrong = page.getByRole("region", { name: "What is wrong" });
    await wrong.getByText("the remaining jobs depend on failed jobs").waitFor();
    await graph.getByRole("link", { name: "mail Dead" }).waitFor();
    await graph.getByRole("link", { name: "report Blocked" }).waitFor();
    await client.editAndRetry(jobs[0]?.id ?? "", { payload: { to: "ada@example.org" } });
    for (const name of ["mail Succeeded", "report Succeeded"]) await graph.getByRole("link", { name }).waitFor();
    await page.getByRole("region", { name: "How far it is" }).getByText("2 / 2").waitFor();
    await wrong.waitFor({ state: "detached" });
  });

  test("of a flow of a thousand jobs the rows in sight exist, and none is drawn", async () => {
    const { id } = await submitFlow(
      world().open.client,
      Array.from({ length: 1_000 }, (_, at) => ({
        ref: `part-${at}`,
        step: "stays" as const,
        ...(at > 0 && { after: [`part-${Math.floor((at - 1) / 3)}`] }),
      })),
    );
    const { page } = await opened(`/ui/flows/${id}`);
    const table = page.getByRole("table", { name: "Jobs of the flow" });
    await table.getByRole("row", { name: /^part-0/ }).waitFor();
    await page.getByText("Of more than 200 jobs there is no graph").waitFor();
    expect(await table.getByRole("row").count()).toBeLessThan(80);
    expect(await page.locator(".flow-node").count()).toBe(0);
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await table.getByRole("row", { name: /^part-999/ }).waitFor();
  });

  test("a flow with too many lines to be drawn leaves the page as quick as ever, and says so", async () => {
    const first = Array.from({ length: 100 }, (_, at) => `from-${at}`);
    const { id } = await submitFlow(world().open.client, [
      ...first.map((ref) => ({ ref, step: "stays" as const })),
      ...first.map((ref) => ({ ref: `to-${ref}`, step: "stays" as const, after: first })),
    ]);
    const { page } = await visit(world().browser, "about:blank");
    await page.clock.install();
    await page.goto(`${world().open.url}/ui/flows/${id}`);
    // It is being laid out meanwhile, beside the page.
    await page.getByRole("table", { name: "Jobs of the flow" }).getByText("from-3", { exact: true }).waitFor();
    await page.getByLabel("Jobs", { exact: true }).getByText("Loading").waitFor();
    await page.clock.fastForward(8_000);
    await page.getByText("Too many edges to draw").waitFor();
  });

  test("on a narrow screen a flow is a table", async () => {
    const { id } = await submitFlow(world().open.client, sales);
    const { page } = await visit(world().browser, `${world().open.url}/ui/flows/${id}`, {
      viewport: { width: 390, height: 844 },
    });
    await page.getByRole("table", { name: "Jobs of the flow" }).getByRole("link", { name: "join" }).waitFor();
    expect(await page.locator(".flow-node").count()).toBe(0);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await eventually(async () => expect(await page.locator(".flow-node").count()).toBe(6));
  });

  test("a job's page says to which flow it belongs, and what it waits for", async () => {
    const { client } = world().open;
    const earlier = await client.submit({ type: "prices.load", queue: "elsewhere" });
    const { id, idOf } = await submitFlow(client, [
      ...sales.slice(0, 4),
      {
        ref: "join",
        step: "stays",
        after: ["sum-north", "sum-east", "sum-south", earlier.id],
        on_parent_failure: "wait",
      },
    ]);
    const { page } = await opened(`/ui/jobs/${idOf("join")}`);
    await page.getByText("It waits for 2 of 4 jobs.").waitFor();
    for (const parent of [/^sum-north\s*Succeeded/, /^sum-east\s*Queued/, /^sum-south\s*Dead/, /^prices.load\s*Queued/])
      await page.getByRole("listitem").filter({ hasText: parent }).waitFor();
    await page.getByRole("link", { name: "See the flow" }).click();
    await page.waitForURL(new RegExp(`/ui/flows/${id}`));
  });
}
