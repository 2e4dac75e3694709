import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { ownRedis } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { runShop } from "../test/example/shop.ts";
import { startFacade } from "../test/worlds.ts";

const orders = [
  { id: 1, items: ["tea", "cup"], card: "good" },
  { id: 2, items: ["pot"], card: "stolen" },
  { id: 3, items: ["jam"], card: "slow" },
];
const became = {
  log: [
    "payment 1 completed",
    "payment 2 failed: the card is stolen",
    "order 2 is cancelled: the card is stolen",
    "payment 3 failed: the bank does not answer",
    "payment 3 completed",
  ],
  shipped: [
    { order: 1, parcels: ["cup", "tea"] },
    { order: 3, parcels: ["jam"] },
  ],
};

/** Both log the end of a payment a moment before or after its order goes on. */
const sorted = ({ log, shipped }: { log: string[]; shipped: unknown[] }) => ({ log: log.toSorted(), shipped });

test("an application written for BullMQ runs on BullMQ", { tags: ["nightly"] }, async () => {
  const redis = await ownRedis();
  onTestFinished(() => redis.stop());
  expect(sorted(await runShop(redis.url, orders))).toEqual(sorted(became));
});

test("the same application, with its import changed, does the same on AtlasQueue", { tags: ["slow"] }, async () => {
  const facade = await startFacade();
  onTestFinished(() => facade.stop());
  const moved = new URL(`../test/example/moved-${process.pid}.ts`, import.meta.url);
  onTestFinished(() => rmSync(moved));
  const text = readFileSync(new URL("../test/example/shop.ts", import.meta.url), "utf8");
  writeFileSync(moved, text.replace('from "bullmq"', 'from "../../src/index.ts"'));
  const shop = (await import(moved.href)) as { runShop: typeof runShop };
  expect(sorted(await shop.runShop(facade.url, orders))).toEqual(sorted(became));
});
