import { postgresUrl, redisUrl } from "@atlasqueue/harness";
import { test } from "vitest";
import { applicationsDatabase, twoQueues } from "./own-schema.ts";

test("two schemas in one database are two queues, beside an application's own tables of the same names", async () => {
  const application = await applicationsDatabase(postgresUrl());
  await twoQueues(application, application.url, redisUrl());
});
