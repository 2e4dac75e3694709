import type { DiagLogger } from "@opentelemetry/api";

const quiet_ms = 60_000;
const words_max = 1_000;

/**
 * What the SDK complains about, on stderr as one line of JSON a minute: a collector that is away is not our trouble, and
 * must not fill a disk. Not through the logger, whose lines are exported.
 */
export function troubleReporter(service: string, now: () => number = Date.now): DiagLogger {
  let said_at = -Infinity;
  let unsaid = 0;
  const say =
    (level: string) =>
    (message: string, ...more: unknown[]) => {
      if (now() - said_at < quiet_ms) return void (unsaid += 1);
      const error = [message, ...more.map(String)].join(" ").slice(0, words_max);
      const line = { level, time: new Date(now()).toISOString(), service, event: "telemetry_failed", error, unsaid };
      process.stderr.write(`${JSON.stringify(line)}\n`);
      said_at = now();
      unsaid = 0;
    };
  const nothing = () => {};
  return { error: say("warn"), warn: say("warn"), info: nothing, debug: nothing, verbose: nothing };
}
