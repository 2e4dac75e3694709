import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "./examples.ts";
import { names } from "./project.ts";
import { succeed } from "./run.ts";

/** A registry that has no packages and accepts all; `published` are the names it was given with a token. */
async function registry(): Promise<{ url: string; published: string[] }> {
  const published: string[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const publishes = request.method === "PUT" && request.headers.authorization === "Bearer a-token";
      if (publishes) published.push(decodeURIComponent(request.url ?? "").slice(1));
      response.writeHead(publishes ? 201 : 404, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, published };
}

test("a dry run names what it would publish, and publishes nothing", async () => {
  const { stdout } = await succeed(process.execPath, [".config/release.ts", "--dry-run"], { cwd: root });
  for (const name of names) expect(stdout).toContain(`📦 ${name}@`);
  expect(stdout).toMatch(/Nothing was published\.\s*$/);
});

test("with a token every package the registry lacks is published", async () => {
  const { url, published } = await registry();
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const userconfig = join(folder, ".npmrc");
  writeFileSync(userconfig, `registry=${url}\n${url.replace("http:", "")}:_authToken=a-token\n`);
  const env = { npm_config_userconfig: userconfig, NPM_CONFIG_USERCONFIG: userconfig, npm_config_registry: url };
  await succeed(join(root, "node_modules/.bin/changeset"), ["publish", "--no-git-tag"], { cwd: root, env });
  expect(published.toSorted()).toEqual(names.toSorted());
});
