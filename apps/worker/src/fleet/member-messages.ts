import { z } from "zod";

/** What a process of a fleet sends to the one that started it; its handlers may forge it, so it is not trusted. */
export const fromMember = z.union([
  z.object({ member: z.literal("started"), metrics_url: z.string() }),
  /** Its event loop turns. */
  z.object({ member: z.literal("beat") }),
  /** It cannot start, for a reason a person can fix: the relevant parts of the error. */
  z.object({
    member: z.literal("trouble"),
    message: z.string(),
    setting: z.boolean(),
    code: z.string().optional(),
    address: z.string().optional(),
    port: z.number().optional(),
    syscall: z.string().optional(),
  }),
]);
export type FromMember = z.infer<typeof fromMember>;

/** `speak`: from now on its log is written; until then it is held back. */
export type ToMember = { fleet: "speak" } | { fleet: "stop" };

export const isToMember = (message: unknown): message is ToMember =>
  typeof message === "object" && message !== null && "fleet" in message;
