import { optionsToken } from "@atlasqueue/nestjs";
import { createTestQueue } from "@atlasqueue/testing";
import { Test } from "@nestjs/testing";
import { AppModule } from "../src/app.module.js";
import { Database } from "../src/database.js";
import { Orders, sendReceipt } from "../src/orders.js";

/** Runs the work without a database. */
const database = { transaction: (work: (client: object) => unknown) => work({ query: async () => {} }) };

test("an order sends a receipt", async () => {
  const queue = createTestQueue();
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(optionsToken)
    .useValue({ queue })
    .overrideProvider(Database)
    .useValue(database)
    .compile();
  const app = await module.createNestApplication().init();

  await app.get(Orders).place("ada@example.org");
  expect(queue.submitted(sendReceipt)).toMatchObject([{ payload: { email: "ada@example.org" } }]);
  expect(await queue.drain()).toMatchObject([{ status: "succeeded", result: { sent_to: "ada@example.org" } }]);

  await app.close();
});
