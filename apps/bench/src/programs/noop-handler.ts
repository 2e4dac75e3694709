import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

let handled = 0;
let tell = (_handled: number) => {};

/** Called with how many jobs have been handled so far, after each. */
export function onHandled(listener: (handled: number) => void): void {
  tell = listener;
}

export const noop = defineHandler("noop", z.object({ n: z.number(), text: z.string().optional() }), () => {
  handled += 1;
  tell(handled);
});
