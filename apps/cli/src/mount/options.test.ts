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

test("without them they are those of the API, with Redis' names after the schema", async () => {
  const options = {
    databaseUrl: "postgres://db.example/app",
    redisUrl: "redis://redis.example",
    user: () => undefined,
  };
  expect(await configOf({ ...options, schema: "jobs" })).toMatchObject({
    database: { connectionsMax: 10, preparedStatements: true },
    redis: { keys: { jobs: "jobs:jobs", deadLetters: "jobs:dlq" } },
  });
  expect((await configOf({ ...options, redisUrl: undefined })).redis).toBeUndefined();
});
