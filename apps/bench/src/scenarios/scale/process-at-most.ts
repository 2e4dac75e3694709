import type { Meter, Rate } from "../../costs/meter.ts";
import type { Ours } from "../../variants/ours.ts";
import type { ServerUrls } from "../../variants/variant.ts";

type Wanted = { jobs: number; queue: string; others?: readonly string[] };

/** How fast a worker gets through the first `jobs` of what waits. It stops then, whatever is left. */
export async function processAtMost(ours: Ours, servers: ServerUrls, meter: Meter, wanted: Wanted): Promise<Rate> {
  const { jobs, queue, others = [] } = wanted;
  let succeeded = 0;
  const all = Promise.withResolvers<void>();
  const measurement = await meter.start();
  const worker = await ours.startWorker(servers, {
    queue,
    others,
    handle() {},
    succeeded() {
      succeeded += 1;
      if (succeeded === jobs) all.resolve();
    },
  });
  await all.promise;
  return measurement.end(jobs, () => worker.stop());
}
