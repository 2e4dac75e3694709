import { expect, test } from "vitest";
import { configOf } from "./options.ts";

test("the connections are those that createQueue would open with these options", async () => {
  const keys = { jobs: "mine:jobs", deadLetters: "mine:dlq" };
  const redisTls = { ca: "a certificate", servername: "redis.internal" };
  const options = {
    databaseUrl: "postgres://db.example/app",
    schema: "jobs",
    redisUrl: "rediss://redis.example:6380",
    redisTls,
    keys,
    connectionsMax: 3,
    preparedStatements: false,
    user: () => undefined,
  };
  expect(await configOf(options)).toMatchObject({
    database: { url: options.databaseUrl, schema: "jobs", connectionsMax: 3, preparedStatements: false },
    redis: { url: options.redisUrl, tls: redisTls, keys },
  });
});
