import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Effort, Figure } from "../scenarios/scenario.ts";
import type { ServerUrls } from "../variants/variant.ts";

/** What a child should measure, by name, as both sides have the same tables. */
export type Order = { scenario: string; variant: string; servers: ServerUrls; effort: Effort };
export type Answer = { kind: "figures"; figures: Figure[] } | { kind: "failed"; reason: string };

export type Child = { measure(order: Order, seconds_max: number): Promise<Figure[]>; stop(): void };

const file = fileURLToPath(new URL("./measure.ts", import.meta.url));

/**
 * A process that measures one variant, without anyone else's garbage, timers or compiled code. `variants` is the URL of
 * the file that exports them, by default that of this checkout.
 */
export function startChild(variants?: string): Child {
  const child = fork(file, variants === undefined ? [] : [variants], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  // What goes wrong with it is told by its end.
  child.on("error", () => {});
  return {
    measure: (order, seconds_max) =>
      new Promise((resolve, reject) => {
        const end = (act: () => void) => {
          clearTimeout(timer);
          child.off("message", onAnswer);
          child.off("exit", onExit);
          act();
        };
        const onAnswer = (answer: Answer) =>
          end(() => (answer.kind === "figures" ? resolve(answer.figures) : reject(new Error(answer.reason))));
        const onExit = (code: number | null) => end(() => reject(new Error(`its process ended with ${code}`)));
        const timer = setTimeout(
          () => end(() => reject(new Error(`no figures in ${seconds_max} s`))),
          seconds_max * 1_000,
        );
        child.on("message", onAnswer);
        child.on("exit", onExit);
        if (child.exitCode === null && child.connected) child.send(order);
        else onExit(child.exitCode);
      }),
    stop: () => void child.kill("SIGKILL"),
  };
}
