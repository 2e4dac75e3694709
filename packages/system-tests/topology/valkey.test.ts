import { startRedis } from "@atlasqueue/embedded";
import { Redis } from "ioredis";
import { findProgram } from "@atlasqueue/harness";
import { startSystem } from "../system/system.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { redisIs } from "./harness/redis-state.ts";
import { startProcesses } from "./harness/topology.ts";

async function start() {
  const [system, valkey] = await Promise.all([startSystem(), startRedis({ program: findProgram("valkey") })]);
  const topology = await startProcesses(system, { env: { REDIS_URL: valkey.url }, beside: [valkey] });
  const url = topology.apis[0]?.url ?? "";
  return { ...topology, valkey, noticed: () => redisIs("away", url) };
}

coreSuite({
  start,
  outages: [
    {
      name: "Valkey is killed and started again, empty",
      async fault({ valkey, noticed }) {
        await valkey.kill("SIGKILL");
        await noticed();
        await valkey.restart();
      },
    },
    {
      name: "Valkey is frozen until that is noticed",
      async fault({ valkey, noticed }) {
        valkey.pause();
        await noticed();
        valkey.resume();
      },
    },
    {
      name: "Valkey is full until that is noticed",
      async fault({ valkey, noticed }) {
        const ask = new Redis(valkey.url);
        await ask.config("SET", "maxmemory", "1");
        await noticed();
        await ask.config("SET", "maxmemory", "0");
        ask.disconnect();
      },
    },
  ],
});
