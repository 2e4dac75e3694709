// Starts both servers in the folder given, prints their ids as JSON, and waits to be killed; with "exit" it exits
// instead, without stopping them.
import { join } from "node:path";
import { startPostgres, startRedis } from "../src/index.ts";

const [folder = "", then] = process.argv.slice(2);
const postgres = await startPostgres({ dataDir: join(folder, "postgres"), settings: { fsync: "off" } });
const redis = await startRedis({ dir: join(folder, "redis") });
console.log(JSON.stringify({ postgres: postgres.pid, redis: redis.pid, url: postgres.url }));
if (then === "exit") process.exit(3);
