// A program that opens a queue's connections, uses the one to Redis or not, and does not close them.
import { createQueue } from "../src/queue.ts";
import { redisSignal } from "../src/signal/redis/signal.ts";

const [databaseUrl = "", redisUrl = "", how = ""] = process.argv.slice(2);
createQueue({ databaseUrl, redisUrl });
if (how !== "unused")
  await redisSignal({ url: redisUrl })
    .check()
    .catch(() => {});
process.stdout.write(`${how}\n`);
