import type { Command } from "@commander-js/extra-typings";
import { stopOnSignals } from "@atlasqueue/core";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";

export function addApi(program: Command, env: Env): void {
  program
    .command("api")
    .description("Run the HTTP API alone, on DATABASE_URL and REDIS_URL.")
    .action(async () => {
      const { readApiConfig, startApi } = await import("@atlasqueue/api");
      const api = await orExit(async () => startApi(readApiConfig(env)));
      stopOnSignals(() => api.stop());
    });
}
