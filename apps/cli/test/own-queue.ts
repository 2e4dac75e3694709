// A program that submits again and again, and prints each outcome that is another than the last.
import { setTimeout as pause } from "node:timers/promises";
import { createQueue } from "@atlasqueue/core";

const queue = createQueue({
  databaseUrl: process.env["DATABASE_URL"] ?? "",
  redisUrl: process.env["REDIS_URL"],
  timeoutMs: 2_000,
});
let last = "";
for (;;) {
  const outcome = await queue.submit({ type: "noop" }).then(
    () => "submitted",
    () => "refused",
  );
  if (outcome !== last) process.stdout.write(`${(last = outcome)}\n`);
  await pause(100);
}
