import { fileURLToPath } from "node:url";
import type { Queue } from "@atlasqueue/core";
import { testDatabase } from "@atlasqueue/harness";
import type { Dashboard } from "atlasqueue/dashboard";
import { expect, onTestFinished, test, vi } from "vitest";

// Next.js' own compiler checks their types: its imports are without endings.
const load = async <Exported>(path: string) =>
  (await import(fileURLToPath(new URL(`nextjs/${path}.ts`, import.meta.url)))) as Exported;
type Route = Record<"GET" | "POST", (request: Request) => Promise<Response>>;

// As Next.js calls them, with the web's own Request and Response.
test("a route stores the job, and the dashboard shows it to the one who has signed in", async () => {
  // As in `next build`, which loads every route without a database.
  vi.stubEnv("DATABASE_URL", undefined);
  const orders = await load<Route>("app/api/orders/route");
  const admin = await load<Route>("app/admin/queues/[[...path]]/route");
  const { queue } = await load<{ queue(): Queue }>("lib/queue");
  const { dashboard } = await load<{ dashboard(): Dashboard }>("lib/dashboard");

  const { url, drop } = await testDatabase();
  vi.stubEnv("DATABASE_URL", url);
  vi.stubEnv("REDIS_URL", undefined);
  vi.stubEnv("ADMIN_SESSION", "secret");
  onTestFinished(async () => {
    await Promise.all([queue().close(), dashboard().close()]);
    await drop();
  });

  const place = (order: object) =>
    orders.POST(new Request("http://shop.example/api/orders", { method: "POST", body: JSON.stringify(order) }));
  expect((await place({ id: "17" })).status).toBe(400);
  const placed = await place({ id: "17", email: "ada@example.org" });
  const { job } = (await placed.json()) as { job: string };
  expect(await (await place({ id: "17", email: "ada@example.org" })).json()).toEqual({ job });

  const ask = (path: string, more: RequestInit = {}, cookie = "session=secret") =>
    admin[more.method === "POST" ? "POST" : "GET"](
      new Request(`http://shop.example/admin/queues/${path}`, {
        ...more,
        headers: { cookie, "x-forwarded-for": "203.0.113.7", "x-atlasqueue-dashboard": "1" },
      }),
    );
  expect((await ask("v1/jobs", {}, "")).status).toBe(401);
  expect(await (await ask(`v1/jobs/${job}`)).json()).toMatchObject({ type: "receipt.send", status: "queued" });
  expect((await ask("v1/queues/default/pause", { method: "POST" })).status).toBe(200);
  expect(await (await ask("v1/audit")).json()).toMatchObject({
    items: [{ action: "queue.pause", address: "203.0.113.7", actor: { name: "ada" } }],
  });
});
