import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { z } from "zod";
import { recorder } from "../recorder.ts";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import { defineHandler, defineJob } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const any = z.looseObject({});
const old_version = [defineHandler(defineJob("old", any), () => {})];
const new_version = [...old_version, defineHandler(defineJob("new", any), () => "done")];
const work = workersOf(client);
/** As if the sweep's time had come. */
const offer = () => api.database.sql`UPDATE atlasqueue.jobs SET due_at = now() WHERE due_at IS NOT NULL`;

test("a job whose type has no handler here goes back with no attempt counted, and runs where there is one", async () => {
  const told = recorder();
  work("types", old_version, { observe: told.observe });
  const { id } = await client.submit({ type: "new", queue: "types", max_attempts: 1 });
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "scheduled", attempts: 0 }));
  expect(told.named("job_type_unknown")).toMatchObject([{ job: { id } }]);
  expect(told.named("handler_start")).toEqual([]);
  work("types", new_version);
  await eventually(async () => {
    await offer();
    expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });
});

test("when it has been ready for `unknownTypeSeconds`, it fails", async () => {
  const { id } = await client.submit({ type: "new", queue: "old", max_attempts: 1 });
  await api.database.sql`UPDATE atlasqueue.jobs SET run_at = run_at - interval '61 seconds' WHERE id = ${id}`;
  work("old", old_version, { unknownTypeSeconds: 60 });
  const last_error = 'UnknownType: no handler for type "new"';
  expect(await client.wait(id)).toMatchObject({ status: "dead", attempts: 1, last_error });
});
