import type { Meter, Rate } from "../costs/meter.ts";
import type { Ours, WorkerNews } from "../variants/ours.ts";
import type { ServerUrls } from "../variants/variant.ts";

export type Fleet = {
  /** Let every worker work until this many more jobs are settled, then stop. */
  work(jobs: number): Promise<Rate>;
  stop(): Promise<void>;
};

/** A number of processes, each a worker when told to. */
export async function startFleet(ours: Ours, servers: ServerUrls, processes: number, meter: Meter): Promise<Fleet> {
  const succeeded = Array.from({ length: processes }, () => 0);
  let hear = (_at: number, _news: WorkerNews) => {};
  const programs = await Promise.all(
    succeeded.map((_, at) => ours.startWorkerProcess(servers, (news) => hear(at, news))),
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
      hear = (at, news) => {
        if (news.succeeded !== undefined) succeeded[at] = news.succeeded;
        if (news.stopped) working -= 1;
        if (total() >= wanted) all.resolve();
        if (working === 0) stopped.resolve();
      };
      const measurement = await meter.start();
      orderAll("start");
      await all.promise;
      return measurement.end(jobs, () => {
        orderAll("stop");
        return stopped.promise;
      });
    },
    async stop() {
      await Promise.all(programs.map((program) => program.stop()));
    },
  };
}
