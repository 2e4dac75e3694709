import { defineHandler, defineJob, type Client, type Handler } from "@atlasqueue/client";
import { z } from "zod";

export const loadSales = defineJob("sales.load", z.object({ region: z.string() }), z.number());
export const sumSales = defineJob("sales.sum", z.object({ month: z.string() }), z.number());

/** One job for each region, and one for their sum. The same month twice is one flow. */
export async function reportSales(client: Client, month: string, regions: string[]): Promise<number> {
  const flow = client.flow();
  const loaded = regions.map((region) => flow.add(loadSales, { region }, { ref: region }));
  const sum = flow.add(sumSales, { month }, { depends_on: loaded });
  const submitted = await flow.submit({ idempotencyKey: `sales-${month}` });
  return submitted.handle(sum).result({ timeoutMs: 60_000 });
}

export function salesHandlers(salesOf: (region: string) => Promise<number>): Handler[] {
  return [
    defineHandler(loadSales, ({ region }) => salesOf(region)),
    defineHandler(sumSales, async (_payload, { parents }) => {
      const results = Object.values(await parents());
      return results.reduce((sum, { result }) => sum + Number(result), 0);
    }),
  ];
}
