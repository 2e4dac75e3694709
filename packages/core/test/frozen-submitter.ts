// A process that submits in every way, over and over, until it is stopped in the middle of some statement.
import { createQueue } from "../src/queue.ts";
import { UniqueConflictError } from "../src/submit/refused.ts";
import { waysToSubmit } from "./ways-to-submit.ts";

const queue = createQueue({ databaseUrl: process.argv[2] ?? "", connectionsMax: 8 });
const jobs = Object.values(waysToSubmit);
const settle = (work: Promise<unknown>) =>
  work.catch((error: unknown) => {
    if (!(error instanceof UniqueConflictError)) throw error;
  });
for (let round = 0; ; round += 1) {
  await Promise.all([
    ...jobs.map((job) => settle(queue.submit(job))),
    settle(queue.submitMany(jobs.toReversed())),
    settle(
      queue.submitFlow({
        jobs: [
          { ref: "a", type: "noop", group: "shared" },
          { type: "noop", depends_on: ["a"] },
        ],
      }),
    ),
    queue.schedules.put({ name: "shared", cron: "* * * * *", job: { type: "noop", group: "shared" } }),
  ]);
  if (round === 0) process.stdout.write("submitting\n");
}
