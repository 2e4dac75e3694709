import { Hono } from "hono";
import { expect, test } from "vitest";
import { RememberingRouter } from "./router.ts";

const app = new Hono({ router: new RememberingRouter() });
app.use(async (c, next) => {
  await next();
  c.header("x-seen", "yes");
});
app.get("/jobs", (c) => c.text("list"));
app.post("/jobs", (c) => c.text("submit"));
app.get("/jobs/count", (c) => c.text("count"));
app.get("/jobs/:id", (c) => c.text(`job ${c.req.param("id")}`));

test.each([
  ["GET", "/jobs", "list"],
  ["POST", "/jobs", "submit"],
  ["GET", "/jobs/count", "count"],
  ["GET", "/jobs/a", "job a"],
  ["GET", "/jobs/b", "job b"],
])("%s %s has the same answer each time, with what is around it", async (method, path, text) => {
  for (const _time of [1, 2, 3]) {
    const answered = await app.request(path, { method });
    expect([await answered.text(), answered.headers.get("x-seen")]).toEqual([text, "yes"]);
  }
  expect((await app.request("/else", { method })).status).toBe(404);
});
