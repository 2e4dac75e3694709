import { openMeter } from "../costs/meter.ts";
import { scenarios } from "../scenarios/index.ts";
import type { Variant } from "../variants/variant.ts";
import type { Answer, Order } from "./child.ts";

const place = process.argv[2];
const { variants }: { variants: readonly Variant[] } = await (place === undefined
  ? import("../variants/index.ts")
  : import(place));

// The process started by `child.ts`: it measures what it is told, one order at a time.
process.on("message", (order: Order) => void measure(order).then((answer) => process.send?.(answer)));
process.on("disconnect", () => process.exit(0));

async function measure({ scenario: name, variant: variantName, servers, effort }: Order): Promise<Answer> {
  const scenario = scenarios.find((one) => one.name === name);
  const variant = variants.find((one) => one.name === variantName);
  if (!scenario || !variant) return { kind: "failed", reason: `no such scenario or variant: ${name}, ${variantName}` };
  const meter = await openMeter(servers);
  try {
    const figures = await scenario.run(variant, servers, effort, meter);
    const wrong = figures.find(({ value }) => !Number.isFinite(value));
    if (wrong) return { kind: "failed", reason: `no figure for ${wrong.scenario}` };
    return { kind: "figures", figures };
  } catch (error) {
    return { kind: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    await meter.close();
  }
}
