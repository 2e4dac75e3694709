import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

export const shout = defineHandler("shout", z.object({ text: z.string() }), ({ text }) => text.toUpperCase());
export default [
  defineHandler("block", z.object({ ms: z.number() }), ({ ms }) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  }),
];
export const notAHandler = { type: "shout", run: () => null };
