import "reflect-metadata";
import { defineJob } from "@atlasqueue/contract";
import { createQueue, type Queue } from "@atlasqueue/core";
import { eventually, testDatabase } from "@atlasqueue/harness";
import { createTestQueue } from "@atlasqueue/testing";
import { Injectable, type INestApplication } from "@nestjs/common";
import { Test } from "@nestjs/testing";
import { createDashboard } from "atlasqueue/dashboard";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  AtlasQueueHealthIndicator,
  AtlasQueueModule,
  Handler,
  InjectQueue,
  optionsToken,
  queueToken,
} from "./index.ts";

const sendEmail = defineJob("email.send", z.object({ to: z.string() }));

class Mailer {
  readonly sent: string[] = [];
  readonly queue: Queue;
  constructor(queue: Queue) {
    this.queue = queue;
  }
  async send({ to }: { to: string }): Promise<string> {
    this.sent.push(to);
    return `sent to ${to}`;
  }
}
// As TypeScript calls decorators. An application writes `@Handler`.
const own = <K extends keyof Mailer>(name: K) =>
  Object.getOwnPropertyDescriptor(Mailer.prototype, name) as TypedPropertyDescriptor<Mailer[K]>;
Injectable()(Mailer);
InjectQueue()(Mailer, undefined, 0);
Handler(sendEmail)(Mailer.prototype, "send", own("send"));

async function start(imported: ReturnType<typeof AtlasQueueModule.forRoot>): Promise<INestApplication> {
  const module = await Test.createTestingModule({ imports: [imported], providers: [Mailer] }).compile();
  const app = module.createNestApplication({ logger: false });
  await app.init();
  return app;
}

test("in a test, the queue is one in memory, and the application's handlers run in it", async () => {
  const queue = createTestQueue();
  const app = await start(AtlasQueueModule.forRoot({ queue }));
  onTestFinished(() => app.close());
  await app.get(Mailer).queue.submit({ type: "email.send", payload: { to: "ada" } });
  expect(await queue.drain()).toMatchObject([{ status: "succeeded", result: "sent to ada" }]);
  expect(app.get(Mailer).sent).toEqual(["ada"]);
  expect(await app.get(AtlasQueueHealthIndicator).isHealthy("queue")).toEqual({ queue: { status: "up" } });
});

test("a test of a whole application overrides its options", async () => {
  const queue = createTestQueue();
  const whole = AtlasQueueModule.forRoot({ databaseUrl: "postgres://127.0.0.1:1/none" });
  const module = await Test.createTestingModule({ imports: [whole], providers: [Mailer] })
    .overrideProvider(optionsToken)
    .useValue({ queue })
    .compile();
  const app = await module.createNestApplication({ logger: false }).init();
  onTestFinished(() => app.close());
  await app.get(Mailer).queue.submit({ type: "email.send", payload: { to: "ada" } });
  expect(await queue.drain()).toMatchObject([{ status: "succeeded" }]);
});

test("an application submits, runs its handlers, serves the dashboard, and drains when it closes", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const dashboard = createDashboard({
    databaseUrl: url,
    basePath: "/admin/queue",
    user: () => ({ name: "ada", scopes: ["read"] }),
  });
  const app = await start(
    AtlasQueueModule.forRootAsync({ useFactory: () => ({ databaseUrl: url, worker: { concurrency: 2 }, dashboard }) }),
  );
  const queue = app.get<Queue>(queueToken);
  await queue.submit({ type: "email.send", payload: { to: "ada" } });
  await eventually(() => expect(app.get(Mailer).sent).toEqual(["ada"]));
  await app.listen(0, "127.0.0.1");
  const jobs = await fetch(`${await app.getUrl()}/admin/queue/v1/jobs`);
  expect(await jobs.json()).toMatchObject({ items: [{ type: "email.send" }] });
  expect(await app.get(AtlasQueueHealthIndicator).isHealthy("queue")).toEqual({ queue: { status: "up" } });
  await app.close();
  await expect(queue.submit({ type: "email.send", payload: { to: "eve" } })).rejects.toThrow();
});

test("a database that is away makes the indicator say down", async () => {
  const app = await start(AtlasQueueModule.forRoot({ databaseUrl: "postgres://127.0.0.1:1/none", worker: false }));
  onTestFinished(() => app.close());
  expect(await app.get(AtlasQueueHealthIndicator).isHealthy("queue")).toMatchObject({ queue: { status: "down" } });
  expect(() => createQueue({ databaseUrl: "" })).toThrow(TypeError);
});
