import { createClient } from "@atlasqueue/client";
import { expect, test } from "vitest";
import { visit, type World } from "../world.ts";

const trace_id = "0af7651916cd43dd8448eb211c80319c";

/** A job's page leads to its trace where the operator says where traces are, and shows its id elsewhere. */
export function traceTests(world: () => World): void {
  test("a job's page leads to its trace", async () => {
    const { url } = world().open;
    const headers = { traceparent: `00-${trace_id}-b7ad6b7169203331-01` };
    const traced = await createClient({ url, headers }).submit({ type: "traced", queue: "nobody" });
    const untraced = await createClient({ url }).submit({ type: "untraced", queue: "nobody" });

    const { page, complaints } = await visit(world().browser, `${url}/ui/jobs/${traced.id}`);
    const link = page.getByRole("link", { name: trace_id });
    expect(await link.getAttribute("href")).toBe(`https://traces.example/${trace_id}`);
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    await page.goto(`${url}/ui/jobs/${untraced.id}`);
    await page.getByText("no trace").waitFor();
    expect(complaints).toEqual([]);
  });
}
