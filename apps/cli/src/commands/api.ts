import type { Command } from "@commander-js/extra-typings";
import { stopOnSignals } from "@atlasqueue/core/process";
import type { Env } from "../config.ts";
import { listenTrouble, orExit } from "../exit.ts";

export function defineApi(command: Command, env: Env): void {
  command.action(async () => {
    const { readApiConfig, startApi } = await import("@atlasqueue/api");
    const api = orExit(async () => {
      const config = readApiConfig(env);
      return startApi(config).catch((error: unknown) => {
        throw listenTrouble(error, "API", config.listen);
      });
    });
    stopOnSignals(async () => (await api).stop());
    await api;
  });
}
