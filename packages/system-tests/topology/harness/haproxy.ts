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

/** HAProxy with the file and the commands of failover.md, in front of the pair; its address is the one that moves. */
export async function startHaproxy(pair: Pair): Promise<{ url: string; stop(): Promise<void> }> {
  const ports = [...pair.both.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
  const url = new URL(pair.moving.url);
  const checks = await Promise.all(ports.map((port) => startCheck(Object.assign(new URL(url), { port }).href)));
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "haproxy-"));
  let text = readFileSync(new URL(file, deploy), "utf8").replace("127.0.0.1:5000", `127.0.0.1:${port}`);
  for (const [at, check] of checks.entries())
    text = text.replace(`10.0.0.${at + 1}:5432 check port 8008`, `127.0.0.1:${ports[at]} check port ${check.port}`);
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
  url.host = `127.0.0.1:${port}`;
  const stop = async () => {
    child.kill("SIGTERM");
    await gone;
    for (const one of checks) one.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(() => takesWrites(url.href));
  } catch (error) {
    await stop();
    throw new Error(`haproxy leads nowhere: ${said}`, { cause: error });
  }
  return { url: url.href, stop };
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

async function takesWrites(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 1, onnotice: () => {} });
  try {
    const [row] = await sql`SELECT current_setting('transaction_read_only') = 'off' AS yes`;
    return row?.["yes"] === true;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
