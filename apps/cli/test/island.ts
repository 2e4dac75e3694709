import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer, connect, type Server } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { spawnProcess } from "@atlasqueue/harness";

const ferry = fileURLToPath(new URL("ferry.ts", import.meta.url));
/** Where the servers are, as seen from the island. */
const address = "10.9.9.9";

export type Island = {
  /** For `spawnProcess`: what runs there. */
  readonly under: readonly string[];
  /** A server's URL, as it is reached from there. */
  urlOf(url: string): string;
  /** With it gone, a dial is ENETUNREACH at once. */
  route(there: boolean): void;
  /** The status of a request made there. */
  status(url: string, body?: object): Promise<number>;
  stop(): Promise<void>;
};

/** A network of its own, with one route to these servers. */
export async function island(...urls: string[]): Promise<Island> {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-island-"));
  const ports = urls.map((url) => Number(new URL(url).port));
  // Paths lead from one network to another.
  const servers = await Promise.all(ports.map((port) => forward(join(folder, String(port)), port)));
  const setUp = ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"];
  const carrier = await spawnProcess(ferry, { under: setUp, args: [folder, ...ports.map(String)] });
  await carrier.waitForLine("ready");
  const under = ["nsenter", "-t", String(carrier.pid), "-n"];
  const inside = (words: string[]) => execFileSync("nsenter", [...under.slice(1), ...words]);
  const self: Island = {
    under,
    urlOf: (url) => Object.assign(new URL(url), { hostname: address }).href,
    route: (there) => void inside(["ip", "addr", there ? "add" : "del", `${address}/32`, "dev", "lo"]),
    async status(url, body) {
      const init = {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
        body: JSON.stringify(body),
      };
      const script = `console.log((await fetch("${url}", ${body ? JSON.stringify(init) : "{}"})).status)`;
      const words = [...under.slice(1), process.execPath, "--input-type=module", "-e", script];
      return Number((await promisify(execFile)("nsenter", words)).stdout);
    },
    async stop() {
      await carrier.stop();
      for (const server of servers) server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  self.route(true);
  return self;
}

function forward(path: string, port: number): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on("error", () => other.destroy());
  });
  return new Promise((resolve) => server.listen(path, () => resolve(server)));
}
