import type { Command } from "@commander-js/extra-typings";
import { serveUntilStopped } from "@atlasqueue/program/process";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { integer } from "../submit/job-fields.ts";

export function defineApi(command: Command, env: Env): void {
  command
    .option("-p, --processes <n>", "Processes on one port (API_PROCESSES)", (text) => integer(text, 1, 256))
    .action(async ({ processes }) => {
      const set = { ...env, ...(processes !== undefined && { API_PROCESSES: String(processes) }) };
      const { readApiConfig, startApis } = await import("@atlasqueue/api");
      await serveUntilStopped(async (stop) => {
        const config = readApiConfig(set);
        const apis = await startApis(config, set, { stop });
        apis.speak();
        return apis;
      }, orExit);
    });
}
