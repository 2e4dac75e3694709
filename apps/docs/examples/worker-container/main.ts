import { createServer } from "node:http";
import { createLogger } from "@atlasqueue/core";
import { createWorker, defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

const greet = defineHandler("greet", z.object({ name: z.string() }), ({ name }, { logger }) => {
  logger.info({ name }, "greeting");
  return { text: `Hello, ${name}` };
});

const { DATABASE_URL: databaseUrl = "", REDIS_URL: redisUrl, PORT = "9091" } = process.env;
const logger = createLogger("info", "greeter");
const worker = createWorker({ databaseUrl, redisUrl, handlers: [greet], concurrency: 20, logger });

// For the orchestrator: 503 if the worker has taken no jobs for half a minute although it should.
const health = createServer((_request, response) => {
  response.writeHead(worker.stuckForMs() > 30_000 ? 503 : 200).end();
}).listen(Number(PORT));

process.once("SIGTERM", async () => {
  await worker.stop({ deadlineMs: 25_000 });
  health.close();
});

/** PostgreSQL is too old, or another database uses the same Redis: restarting would not help. */
async function endIfRefused(): Promise<void> {
  const reason = await worker.refused;
  logger.error({ reason }, "worker refused");
  process.exitCode = 1;
  health.close();
}
void endIfRefused();
