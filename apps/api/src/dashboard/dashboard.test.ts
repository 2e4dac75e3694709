import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { forFile } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";
import { readApiConfig } from "../config.ts";
import { readDashboard } from "./built.ts";

const page = '<!doctype html><title>AtlasQueue</title><script type="module" src="./assets/index-4f2a.js"></script>';
const script = "console.log('the page');\n".repeat(50);

const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => {
  mkdirSync(join(folder, "assets"));
  for (const [name, text] of [
    ["index.html", page],
    ["assets/index-4f2a.js", script],
    ["missing.js", "location.reload()"],
  ] as const) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(folder, "secret.txt"), "not a part of the page");
});
const api = forFile(() => testApp({ dashboard: readDashboard([folder]) }));
const without = forFile(testApp);

test.each(["/", "/ui/jobs?status=dead", "/ui/queues/mails", "/ui/queues/a%2Fb", "/ui"])(
  "%s is the page, asked for anew each time",
  async (path) => {
    const response = await api.get(path);
    expect(response.status).toBe(200);
    const [, source = ""] = /src="([^"]+)"/.exec(await response.text()) ?? [];
    // Below whichever path a proxy puts it.
    expect(new URL(source, `http://a.example/queue${path}`).pathname).toBe("/queue/assets/index-4f2a.js");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const etag = response.headers.get("etag") ?? "";
    expect((await api.get(path, { "if-none-match": etag })).status).toBe(304);
  },
);

test("the page may load only what comes from here, and nobody may frame it", async () => {
  const { headers } = await api.get("/");
  expect(headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self';/,
  );
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("same-origin");
});

test.each([
  ["br, gzip", "br", brotliDecompressSync],
  ["gzip, deflate", "gzip", gunzipSync],
  ["br;q=0, *", "gzip", gunzipSync],
  ["identity", null, (bytes: Uint8Array) => bytes],
])("an asset asked for with %j comes as %j and is kept for ever", async (accept, encoding, decode) => {
  const response = await api.get("/assets/index-4f2a.js", { "accept-encoding": accept });
  expect(response.headers.get("content-encoding")).toBe(encoding);
  expect(response.headers.get("vary")).toBe("accept-encoding");
  expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(Buffer.from(decode(new Uint8Array(await response.arrayBuffer()))).toString()).toBe(script);
});

test("a script of another version loads the page anew, and is not kept", async () => {
  const response = await api.get("/assets/index-0000.js");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(await response.text()).toContain("location.reload()");
});

test.each([
  "/assets/nothing.css",
  "/assets/..%2Fsecret.txt",
  "/assets/index-4f2a.js.br",
  "/v1/nothing",
  "/nothing",
  "/uix",
])("%s is a 404, and not the page", async (path) => {
  const response = await api.get(path);
  expect(response.status).toBe(404);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
});

test.each(["/jobs", "/dashboard/queues", "/livez", "/v1/queues", "/openapi.json", "/metrics"])(
  "%s is answered as without the page",
  async (path) => {
    const [one, other] = await Promise.all([api.get(path), without.get(path)]);
    expect([one.status, one.headers.get("content-type")]).toEqual([200, other.headers.get("content-type")]);
    expect(one.headers.get("content-security-policy")).toBeNull();
  },
);

test("the page takes no other method", async () => {
  const response = await api.app.request("http://localhost/ui/jobs", { method: "POST" });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD");
});

test("DASHBOARD=false leaves it out, and so does a build that is not there", async () => {
  const env = { DATABASE_URL: "postgres://127.0.0.1/atlasqueue" };
  expect(readApiConfig(env).with_dashboard).toBe(true);
  expect(readApiConfig({ ...env, DASHBOARD: "false" }).with_dashboard).toBe(false);
  expect(readDashboard([join(folder, "nowhere")])).toBeUndefined();
  expect((await without.get("/")).status).toBe(404);
});
