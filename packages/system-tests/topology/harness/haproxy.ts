import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@atlasqueue/embedded";
import postgres from "postgres";
import { eventually } from "@atlasqueue/harness";
import { blockWith } from "./page.ts";
import type { Pair } from "@atlasqueue/harness/servers";
import { mustRun } from "./run.ts";

const deploy = new URL("../../../deploy/", import.meta.url);
const file = "haproxy.cfg";

type Proxy = { url: string; stop(): Promise<void> };
type Server = { port: number; check_port: number };

/** In front of a pair, which has no Patroni: its address is the one that moves. */
export async function startHaproxyOfPair(pair: Pair): Promise<Proxy> {
  const ports = [...pair.both.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
  const checks = await Promise.all(
    ports.map((port) => startCheck(Object.assign(new URL(pair.moving.url), { port }).href)),
  );
  const nodes = checks.map((check, at) => ({ port: ports[at] ?? 0, check_port: check.port }));
  const proxy = await startHaproxy({ url: pair.moving.url, nodes });
  const stop = async () => {
    await proxy.stop();
    for (const check of checks) check.stop();
  };
  return { url: proxy.url, stop };
}

/** HAProxy with the file and the commands of failover.md, in front of these servers; `url` has their database and password. */
export async function startHaproxy(of: { url: string; nodes: readonly Server[] }): Promise<Proxy> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "haproxy-"));
  const servers = of.nodes.map(
    (one, at) => `  server db${at + 1} 127.0.0.1:${one.port} check port ${one.check_port}\n`,
  );
  const text = readFileSync(new URL(file, deploy), "utf8")
    .replace("127.0.0.1:5000", `127.0.0.1:${port}`)
    .replace(/(?:^ +server .*\n)+/m, servers.join(""));
  writeFileSync(join(folder, file), text);
  const commands = blockWith("failover.md", "bash", "haproxy -c").replaceAll(
    `packages/deploy/${file}`,
    join(folder, file),
  );
  const [check = "", start = ""] = commands.split("\n");
  await mustRun("sh", ["-ec", check]);
  const child = spawn("sh", ["-c", `exec ${start}`], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const gone = once(child, "exit");
  const url = of.url.replace(/@[^/]+/, `@127.0.0.1:${port}`);
  const stop = async () => {
    child.kill("SIGTERM");
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(() => takesWrites(url));
  } catch (error) {
    await stop();
    throw new Error(`haproxy leads nowhere: ${said}`, { cause: error });
  }
  return { url, stop };
}

/** In Patroni's place: 200 from the server that takes writes, whatever is asked. */
async function startCheck(url: string): Promise<{ port: number; stop(): void }> {
  const server = createServer((_, answer) => {
    takesWrites(url).then(
      (yes) => answer.writeHead(yes ? 200 : 503).end(),
      () => answer.writeHead(503).end(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() };
}

/** Throws where no server answers. */
export async function takesWrites(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 1, onnotice: () => {} });
  try {
    const [row] = await sql`SELECT current_setting('transaction_read_only') = 'off' AS yes`;
    return row?.["yes"] === true;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
