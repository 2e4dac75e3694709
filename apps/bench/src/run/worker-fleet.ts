import { startProgram } from "../programs/start-program.ts";
import type { ServerUrls } from "../variants/variant.ts";

export type Fleet = {
  /** Let every worker work until this many more jobs are settled, then stop. Resolves with the milliseconds it took. */
  work(jobs: number): Promise<number>;
  stop(): Promise<void>;
};

const file = new URL("../programs/worker.ts", import.meta.url);
type Message = { succeeded?: number; stopped?: true };

/** A number of processes, each a worker when told to. */
export async function startFleet(servers: ServerUrls, processes: number): Promise<Fleet> {
  const succeeded = Array.from({ length: processes }, () => 0);
  let hear = (_at: number, _message: Message) => {};
  const programs = await Promise.all(
    succeeded.map((_, at) => startProgram(file, servers, (message) => hear(at, message as Message))),
  );
  const total = () => succeeded.reduce((sum, count) => sum + count, 0);
  const orderAll = (order: "start" | "stop") => {
    for (const { tell } of programs) tell(order);
  };
  return {
    async work(jobs) {
      const wanted = total() + jobs;
      const all = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      let working = processes;
      hear = (at, message) => {
        if (message.succeeded !== undefined) succeeded[at] = message.succeeded;
        if (message.stopped) working -= 1;
        if (total() >= wanted) all.resolve();
        if (working === 0) stopped.resolve();
      };
      const start = performance.now();
      orderAll("start");
      await all.promise;
      const elapsed_ms = performance.now() - start;
      orderAll("stop");
      await stopped.promise;
      return elapsed_ms;
    },
    async stop() {
      await Promise.all(programs.map((program) => program.stop()));
    },
  };
}
