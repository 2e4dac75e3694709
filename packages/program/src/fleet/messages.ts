import { z } from "zod";

/** What a process of a fleet sends to the one that started it; code it runs may forge it, so it is not trusted. */
export const fromMember = z.union([
  /** It works. The program that started the fleet understands what is in the message. */
  z.object({ member: z.literal("started"), about: z.unknown() }),
  /** Its event loop turns. */
  z.object({ member: z.literal("beat") }),
  /** It cannot start, for a reason a person can fix, in one line. */
  z.object({ member: z.literal("trouble"), line: z.string() }),
  /** It wants to know what all of them say. */
  z.object({ member: z.literal("asks"), id: z.int() }),
  z.object({ member: z.literal("says"), id: z.int(), text: z.string() }),
]);
export type FromMember = z.infer<typeof fromMember>;

/** `speak`: from now on its log is written; until then it is held back. `said`: the answers to `asks`. */
export type ToMember =
  | { fleet: "speak" }
  | { fleet: "stop" }
  | { fleet: "ask"; id: number }
  | { fleet: "said"; id: number; texts: string[] };

export const isToMember = (message: unknown): message is ToMember =>
  typeof message === "object" && message !== null && "fleet" in message;
