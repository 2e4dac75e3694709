import { readApiConfig, startApi } from "@atlasqueue/api";
import { connectDatabase, migrateDatabase } from "@atlasqueue/core";
import { Command } from "@commander-js/extra-typings";
import { seedDay } from "atlasqueue";
import { startServers } from "../run/servers.ts";
import { timePages } from "./pages.ts";

// pnpm bench:pages: how long each page of the dashboard waits for its first answers, beside many jobs.
const { jobs, dead, queues, max } = new Command("pnpm bench:pages")
  .description("Seed a system of its own and time what the dashboard's pages ask first.")
  .option("--jobs <n>", "how many", Number, 2_000_000)
  .option("--dead <n>", "of them dead letters", Number, 50_000)
  .option("--queues <n>", "queues", Number, 5_000)
  .option("--max <ms>", "the answer that is too late", Number, 300)
  .parse(process.argv.slice(2), { from: "user" })
  .opts();
const say = (line: string) => process.stderr.write(`${line}\n`);

const servers = await startServers();
try {
  const { urls } = await servers.fresh();
  await migrateDatabase(urls.postgres);
  const database = connectDatabase({ url: urls.postgres, connectionsMax: 1, timeoutMs: 60_000 });
  const began = performance.now();
  await seedDay({ database, observe: () => {} }, { jobs, dead, queues }, say);
  // As autovacuum leaves it within minutes: the seed's changes of counts, which were added up, are dead rows until then.
  await database.sql`VACUUM (ANALYZE)`;
  await database.close();
  say(`seeded in ${Math.round((performance.now() - began) / 1_000)} s`);
  const api = await startApi(
    readApiConfig({ DATABASE_URL: urls.postgres, REDIS_URL: urls.redis_memory, API_PORT: "0", LOG_LEVEL: "ERROR" }),
  );
  const times = await timePages(api.url);
  await api.stop();
  process.stdout.write(`| page | question | first ms | median ms | KB |\n| --- | --- | --: | --: | --: |\n`);
  for (const { page, path, status, first_ms, median_ms, bytes } of times)
    process.stdout.write(
      `| ${page} | \`${path}\`${status === 200 ? "" : ` (${status})`} | ${first_ms.toFixed(0)} | ${median_ms.toFixed(0)} | ${(bytes / 1_024).toFixed(0)} |\n`,
    );
  const late = times.filter(({ first_ms, status }) => first_ms > max || status !== 200);
  if (late.length > 0) process.exitCode = 1;
} finally {
  await servers.stop();
}
