import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

let handled = 0;
export const handledSoFar = () => handled;

export const noop = defineHandler("noop", z.object({ n: z.number(), text: z.string().optional() }), () => {
  handled += 1;
});
