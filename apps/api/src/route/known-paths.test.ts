import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { expect, onTestFinished, test, vi } from "vitest";
import { KnownPaths } from "./known-paths.ts";

const said = async (app: Hono, method: string, path: string) => {
  const response = await app.request(path, { method });
  return `${response.status} ${await response.text()}`;
};

test("a path without parameters is looked up once; all are answered as before", async () => {
  const look = vi.spyOn(TrieRouter.prototype, "match");
  onTestFinished(() => look.mockRestore());
  const app = new Hono({ router: new KnownPaths() });
  app.use(async (c, next) => {
    await next();
    c.res.headers.set("seen", "yes");
  });
  app.post("/jobs", (c) => c.text("stored"));
  app.get("/jobs/counts", (c) => c.text("counts"));
  app.get("/jobs/:id", (c) => c.text(`job ${c.req.param("id")}`));
  for (let round = 0; round < 3; round += 1) {
    expect(await said(app, "POST", "/jobs")).toBe("200 stored");
    expect(await said(app, "GET", "/jobs/counts")).toBe("200 counts");
    expect((await app.request("/jobs", { method: "POST" })).headers.get("seen")).toBe("yes");
  }
  expect(look).toHaveBeenCalledTimes(2);
  for (const id of ["a", "b", "a"]) expect(await said(app, "GET", `/jobs/${id}`)).toBe(`200 job ${id}`);
  expect(await said(app, "PUT", "/jobs")).toMatch(/^404/);
  expect(look).toHaveBeenCalledTimes(6);
  for (let round = 0; round < 3; round += 1) expect(await said(app, "GET", `/jobs/:id/${round}`)).toMatch(/^404/);
  expect(look).toHaveBeenCalledTimes(9);
});

test("a route that is added later is found", () => {
  const router = new KnownPaths<string>();
  router.add("GET", "/one", "first");
  const names = () => router.match("GET", "/one")[0].map(([name]) => name);
  expect([names(), names()]).toEqual([["first"], ["first"]]);
  router.add("GET", "/one", "second");
  expect(names()).toEqual(["first", "second"]);
});
