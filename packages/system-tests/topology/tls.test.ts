import { Redis } from "ioredis";
import { minimalUser, tlsRedis } from "@atlasqueue/harness";
import { startSystem } from "../system/system.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { redisIs } from "./harness/redis-state.ts";
import { startProcesses } from "./harness/topology.ts";

async function addUser(url: string): Promise<string> {
  const redis = new Redis(url);
  const login = await minimalUser(redis, { keys: "atlasqueue:" });
  redis.disconnect();
  return login;
}

async function start() {
  const [system, redis] = await Promise.all([startSystem(), tlsRedis()]);
  const env = {
    REDIS_URL: `rediss://${await addUser(redis.server.url)}@127.0.0.1:${redis.tls_port}`,
    REDIS_TLS_CA_FILE: redis.authority.ca_file,
    REDIS_TLS_CERT_FILE: redis.client.cert_file,
    REDIS_TLS_KEY_FILE: redis.client.key_file,
  };
  return { ...(await startProcesses(system, { env, beside: [redis] })), redis };
}

coreSuite({
  start,
  outages: [
    {
      name: "Redis is killed and started again, with its user",
      async fault({ redis }) {
        await redis.server.kill("SIGKILL");
        await redis.server.restart();
        await addUser(redis.server.url);
      },
    },
    {
      name: "the user's password is changed until that is noticed, and changed back",
      async fault({ redis, apis }) {
        const ask = new Redis(redis.server.url);
        await ask.acl("SETUSER", "atlasqueue", "resetpass", ">another");
        await ask.client("KILL", "USER", "atlasqueue");
        await redisIs("away", apis[0]?.url ?? "");
        await ask.acl("SETUSER", "atlasqueue", "resetpass", ">of-the-user");
        ask.disconnect();
      },
    },
  ],
});
