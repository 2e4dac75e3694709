import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@atlasqueue/embedded";
import { eventually, findProgram } from "@atlasqueue/harness";

export type Nginx = { url: string; port: number; stop(): Promise<void> };

const page = new URL("../../../apps/docs/pages/operate/proxy.md", import.meta.url);

/**
 * nginx with the lines of apps/docs/pages/operate/proxy.md in front of an API, but without TLS.
 * `server` takes the place of what is in its server block. Stopping it is up to you.
 *
 * @example
 * const nginx = await startNginx(new URL(api.url).host);
 */
export async function startNginx(
  api: string,
  { port, server }: { port?: number; server?: string } = {},
): Promise<Nginx> {
  const program = findProgram("nginx");
  if (program === undefined) throw new Error("there is no nginx here; `pnpm test` installs it");
  port ??= await freePort();
  const folder = mkdtempSync(join(tmpdir(), "nginx-"));
  // Its workers run as nobody where it is started as root.
  chmodSync(folder, 0o755);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (what) => `${what}_temp_path ${join(folder, what)};`,
  );
  const lines = [
    `daemon off; pid ${join(folder, "pid")}; error_log stderr; worker_processes 1;`,
    `events {}`,
    `http {`,
    `access_log off;`,
    ...temporary,
    server === undefined
      ? documented(api, port)
      : `upstream atlasqueue { server ${api}; } server { listen 127.0.0.1:${port}; ${server} }`,
    `}`,
  ];
  writeFileSync(join(folder, "nginx.conf"), lines.join("\n"));
  const child = spawn(program, ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const gone = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await eventually(async () => (await fetch(`${url}/livez`)).status < 500);
  } catch (error) {
    await stop();
    throw new Error(`nginx did not start: ${said}`, { cause: error });
  }
  return { url, port, stop };
}

/** The page's lines for a path of its own. */
export function subPathLines(): string {
  const [, block] = /## A path of its own.*?```nginx\n(.*?)```/s.exec(readFileSync(page, "utf8")) ?? [];
  if (block === undefined) throw new Error("proxy.md has no lines for a path of its own");
  return block;
}

/** The page's lines, for these addresses. */
function documented(api: string, port: number): string {
  const [, block] = /```nginx\n(.*?)```/s.exec(readFileSync(page, "utf8")) ?? [];
  if (block === undefined) throw new Error("proxy.md has no lines for nginx");
  return block
    .replace("127.0.0.1:8000", api)
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, "");
}
