import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@atlasqueue/embedded";
import { eventually } from "../eventually.ts";
import { findProgram } from "./programs.ts";

type Sample = { metric: Record<string, string>; value: [at: number, value: string] };
export type Prometheus = {
  /** What an expression gives now. Throws what Prometheus says is wrong with it. */
  query(expression: string): Promise<Sample[]>;
  /** The names of the alerts that fire. */
  firing(): Promise<string[]>;
  stop(): Promise<void>;
};

/**
 * A Prometheus that scrapes `/metrics` of these addresses (host and port), and evaluates these rules, twice a second.
 * Stopping it is up to you.
 *
 * @example
 * const prometheus = await startPrometheus({ targets: ["127.0.0.1:9091"], rules: "groups: []" });
 * await eventually(async () => expect(await prometheus.firing()).toContain("RedisAway"));
 */
export async function startPrometheus({ targets, rules }: { targets: string[]; rules: string }): Promise<Prometheus> {
  const program = findProgram("prometheus");
  if (program === undefined) throw new Error("there is no prometheus here; `pnpm test` installs it");
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "prometheus-"));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "rules.yaml"), rules);
  const config = {
    global: { scrape_interval: "500ms", scrape_timeout: "500ms", evaluation_interval: "500ms" },
    rule_files: ["rules.yaml"],
    scrape_configs: [{ job_name: "atlasqueue", static_configs: [{ targets }] }],
  };
  // Every JSON document is YAML.
  writeFileSync(join(folder, "prometheus.yaml"), JSON.stringify(config));
  const child = spawn(
    program,
    [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const gone = once(child, "exit");
  const stop = async () => {
    child.kill("SIGKILL");
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const ask = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`${url}${path}`)).json()) as { data: T; error?: string };
    if (answer.error !== undefined) throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  try {
    await eventually(async () => (await fetch(`${url}/-/ready`)).ok);
  } catch (error) {
    await stop();
    throw new Error(`prometheus did not start: ${said}`, { cause: error });
  }
  return {
    query: async (expression) =>
      (await ask<{ result: Sample[] }>(`/api/v1/query?query=${encodeURIComponent(expression)}`)).result,
    async firing() {
      const { alerts } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>("/api/v1/alerts");
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname);
    },
    stop,
  };
}
