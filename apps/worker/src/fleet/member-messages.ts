import { z } from "zod";

/** What a process of a fleet says to the one that started it; what its handlers say in its place is not trusted. */
export const fromMember = z.union([
  z.object({ member: z.literal("started"), metrics_url: z.string() }),
  /** Its event loop turns. */
  z.object({ member: z.literal("beat") }),
  /** It cannot start, for a reason that a person can mend: the parts of the error that say so. */
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
