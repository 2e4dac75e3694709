import type { Command } from "@commander-js/extra-typings";
import { stopOnSignals } from "@atlasqueue/program/process";
import type { Env } from "../config.ts";
import { exitCodes, orExit } from "../exit.ts";
import { onLauncherGone } from "../start/launcher.ts";

export function defineStart(command: Command, env: Env): void {
  command
    .option(
      "--ephemeral",
      "run its own servers with empty data on free ports (not API_PORT), and delete everything at the end",
    )
    .addHelpText(
      "after",
      "\nWithout DATABASE_URL it runs its own PostgreSQL, with its data in DATA_DIR (.atlasqueue); without REDIS_URL a" +
        "\nredis-server or valkey-server from PATH, or signals in memory when there is neither. Other variables: API_PORT," +
        "\nWORKER_METRICS_PORT, LOG_LEVEL and everything the API and the worker read. SIGINT and SIGTERM drain and stop." +
        "\nWORKER_QUEUES=demo leaves the jobs of the queue `default` to the workers of your application.",
    )
    .action(async ({ ephemeral = false }) => {
      const { startSystem } = await import("../start/start.ts");
      const stopping = new AbortController();
      let starting: ReturnType<typeof startSystem> = Promise.resolve(undefined);
      const stop = async () => {
        stopping.abort();
        const system = await starting.catch(() => undefined);
        await system?.stop();
      };
      // Before anything is started, so that nothing can be left behind.
      stopOnSignals(stop);
      // The end of the launcher means the same, but may come on top of a signal.
      const stopAndExit = () => void stop().finally(() => process.exit(exitCodes.ok));
      onLauncherGone(stopAndExit);
      starting = startSystem(env, { stdout: process.stdout, stop: stopping.signal, ephemeral });
      await orExit(() => starting);
    });
}
