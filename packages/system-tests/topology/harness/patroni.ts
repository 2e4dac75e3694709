import { spawn, type ChildProcess } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@atlasqueue/embedded";
import { eventually, tcpProxy, type TcpProxy } from "@atlasqueue/harness";
import { parse } from "yaml";
import { end, installed, isGone, nobodyIfRoot } from "./children.ts";

type Node = {
  readonly name: string;
  /** Of its PostgreSQL, and of Patroni's REST API, which says which node leads. */
  readonly port: number;
  readonly check_port: number;
  /** It speaks with etcd through this. */
  readonly etcd: TcpProxy;
  start(): void;
  /** As when its machine is gone: Patroni and all of PostgreSQL's processes. */
  kill(): Promise<void>;
  /** Patroni alone stands still, and what it should do about a lost lock too. */
  freeze(): void;
  thaw(): void;
};

export type Patroni = {
  /** Names all nodes; a client looks for the one that takes writes. */
  readonly url: string;
  readonly nodes: readonly Node[];
  /** The node that etcd's lock and its own PostgreSQL agree on. */
  leader(): Promise<Node>;
  /** Resolves when another node than this leads. */
  succeeds(former: Node): Promise<void>;
  /** Starts what is gone; resolves when one node leads, one is its synchronous standby, and all have caught up. */
  whole(): Promise<void>;
  /** A planned change to the synchronous standby. */
  switchover(): Promise<void>;
  stop(): Promise<void>;
};

/** What failover.md tells operators to set. */
const shared = parse(readFileSync(new URL("../../../deploy/patroni.yaml", import.meta.url), "utf8")) as {
  bootstrap: object;
};
const password = "a-password-for-patroni";
const answer_ms_max = 5_000;
const start_ms_max = 120_000;

/**
 * Three PostgreSQL servers in synchronous mode, kept by Patroni with an etcd, from Debian's packages. As root they run as
 * `nobody`. Stopping it is up to you.
 *
 * @example
 * const patroni = await startPatroni();
 * const topology = await startProcesses(system, { env: { DATABASE_URL: patroni.url } });
 * await (await patroni.leader()).kill();
 */
export async function startPatroni(): Promise<Patroni> {
  const folder = mkdtempSync(join(tmpdir(), "patroni-"));
  chmodSync(folder, 0o755);
  const { uid, gid } = nobodyIfRoot() ?? {};
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  const etcd = await startEtcd(folder);
  const nodes = await Promise.all(["one", "two", "three"].map((name) => makeNode(folder, name, etcd.url)));
  const { leader, members } = observe(nodes);
  const whole = async () => {
    for (const node of nodes) node.start();
    await eventually(
      async () => {
        const found = await members();
        const roles = found.filter(({ lag, state }) => !lag && ["running", "streaming"].includes(state));
        if (
          roles
            .map(({ role }) => role)
            .toSorted()
            .join() !== "leader,replica,sync_standby"
        )
          throw new Error(`the nodes are ${JSON.stringify(found)}`);
      },
      { timeout_ms: start_ms_max, interval_ms: 200 },
    );
  };
  const succeeds = (former: Node) =>
    eventually(
      async () => {
        if ((await leader()) === former) throw new Error(`${former.name} still leads`);
      },
      { timeout_ms: start_ms_max },
    );
  const stop = async () => {
    for (const node of nodes) await node.kill();
    await etcd.stop();
    for (const node of nodes) await node.etcd.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    nodes[0]?.start();
    await eventually(() => leader(), { timeout_ms: start_ms_max });
    await whole();
  } catch (error) {
    const said = nodes.map(({ name }) => readFileSync(join(folder, `${name}.log`), "utf8").slice(-1_500)).join("\n");
    await stop();
    throw new Error(`Patroni did not start:\n${said}`, { cause: error });
  }
  return {
    url: `postgres://postgres:${password}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`,
    nodes,
    leader,
    succeeds,
    whole,
    async switchover() {
      const former = await leader();
      const body = JSON.stringify({ leader: former.name });
      const answer = await rest(former, "/switchover", { method: "POST", body });
      if (!answer.ok) throw new Error(`the switchover was answered ${answer.status} ${await answer.text()}`);
      await succeeds(former);
    },
    stop,
  };
}

type Member = { name: string; role: string; state: string; lag?: number };

/** What the nodes say themselves, each of which may be gone. */
function observe(nodes: readonly Node[]) {
  const leads = async (node: Node) => (await rest(node, "/primary").catch(() => undefined))?.status === 200;
  return {
    async leader(): Promise<Node> {
      const found = await Promise.all(nodes.map(leads));
      const node = nodes.find((_, at) => found[at]);
      if (node === undefined) throw new Error("no node leads");
      return node;
    },
    async members(): Promise<Member[]> {
      const answers = await Promise.all(nodes.map((node) => rest(node, "/cluster").catch(() => undefined)));
      return ((await answers.find((answer) => answer?.ok)?.json()) as { members: Member[] } | undefined)?.members ?? [];
    },
  };
}

const rest = ({ check_port }: Node, path: string, options: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${check_port}${path}`, { ...options, signal: AbortSignal.timeout(answer_ms_max) });

async function makeNode(folder: string, name: string, etcd_url: string): Promise<Node> {
  const [port, check_port, etcd] = await Promise.all([freePort(), freePort(), tcpProxy(etcd_url)]);
  const [data, file] = [join(folder, name), join(folder, `${name}.yml`)];
  const user = (username: string) => ({ username, password });
  const config = {
    ...shared,
    scope: "queue",
    name,
    restapi: { listen: `127.0.0.1:${check_port}`, connect_address: `127.0.0.1:${check_port}` },
    // It would find etcd's own address otherwise, and go past the proxy.
    etcd3: { host: `127.0.0.1:${etcd.port}`, use_proxies: true },
    bootstrap: { ...shared.bootstrap, initdb: [{ encoding: "UTF8" }, { locale: "C" }] },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: installed("postgresql"),
      pgpass: join(folder, `${name}.pgpass`),
      authentication: { superuser: user("postgres"), replication: user("replicator") },
      // Processes are killed here, and no machine loses its power.
      parameters: { fsync: "off", shared_buffers: "128MB", unix_socket_directories: folder },
      pg_hba: ["host all all 127.0.0.1/32 scram-sha-256", "host replication replicator 127.0.0.1/32 scram-sha-256"],
      remove_data_directory_on_rewind_failure: true,
    },
  };
  // Every JSON document is YAML.
  writeFileSync(file, JSON.stringify(config));
  let child: ChildProcess | undefined;
  return {
    name,
    port,
    check_port,
    etcd,
    start() {
      if (!isGone(child)) return;
      const log = openSync(join(folder, `${name}.log`), "a");
      child = spawn(installed("patroni"), [file], { stdio: ["ignore", log, log], cwd: folder, ...nobodyIfRoot() });
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    async kill() {
      await end(child);
      // Its processes first: none of them is to end in its own way because the first one is gone.
      const pid = postmaster(data);
      const children = pid === undefined ? [] : readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
      for (const one of [...children.filter((text) => text !== "").map(Number), ...(pid ? [pid] : [])]) killed(one);
      await eventually(() => postmaster(data) === undefined);
    },
  };
}

/** PostgreSQL's first process, if that is what has the number in its file. */
function postmaster(data: string): number | undefined {
  try {
    const [pid] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    return readlinkSync(`/proc/${pid}/cwd`) === data ? Number(pid) : undefined;
  } catch {
    return undefined;
  }
}

/** Some are gone before they are told to. */
function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

async function startEtcd(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  const [url, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const flags = {
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peers,
    "initial-advertise-peer-urls": peers,
    "initial-cluster": `default=${peers}`,
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(installed("etcd"), args, { stdio: "ignore", ...nobodyIfRoot() });
  const stop = () => end(child);
  try {
    await eventually(async () => (await fetch(`${url}/health`)).ok);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
