import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Engine } from "./engine.ts";
import { mustRun, run, type Ran } from "../harness/run.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

export type Compose = {
  /** `docker compose …` in the repository, as an operator runs it. Throws unless it ends with 0. */
  compose(args: readonly string[], timeout_ms?: number): Promise<string>;
  tryCompose(args: readonly string[]): Promise<Ran>;
  /** The containers of a service, by their ids. */
  containersOf(service: string, all?: boolean): Promise<string[]>;
  /** Where a service's port is on this machine. */
  urlOf(service: string, port: number, index?: number): Promise<string>;
};

/**
 * docker-compose.yml, with memory limits and, where the base image is a stand-in that carries certificates for builds,
 * without those at run time. `env` is what an operator would set.
 */
export function composeOf(engine: Engine, folder: string, env: Readonly<Record<string, string>>): Compose {
  const limits = ["migrate", "api", "worker"].map(
    (name) =>
      `  ${name}: { mem_limit: 256m, memswap_limit: 256m, build: { network: host }, environment: { NODE_EXTRA_CA_CERTS: "" } }`,
  );
  const file = join(folder, "limits.yml");
  const pooler = "  pooler: { mem_limit: 64m, memswap_limit: 64m, build: { network: host } }";
  writeFileSync(file, `services:\n${[...limits, pooler].join("\n")}\n`);
  const base = ["compose", "--project-name", "atlasqueue-tour", "-f", "docker-compose.yml", "-f", file];
  const variables = { ...engine.env, ...env };
  const compose = (args: readonly string[], timeout_ms = 120_000) =>
    mustRun("docker", [...base, ...args], { cwd: root, env: variables, timeout_ms });
  return {
    compose,
    tryCompose: (args) => run("docker", [...base, ...args], { cwd: root, env: variables, timeout_ms: 120_000 }),
    containersOf: async (service, all = false) =>
      (await compose(["ps", "--quiet", ...(all ? ["--all"] : []), service])).trim().split("\n"),
    urlOf: async (service, port, index = 1) =>
      `http://${(await compose(["port", "--index", String(index), service, String(port)])).trim()}`,
  };
}
