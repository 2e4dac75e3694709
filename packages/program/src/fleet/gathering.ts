import type { ToMember } from "./messages.ts";

const answer_ms_max = 2_000;

export type Gathering = {
  /** Ask these members what they say. Resolves with the answers that came within two seconds, in their order. */
  ask(members: readonly { send(message: ToMember): void }[]): Promise<string[]>;
  hear(answer: { id: number; text: string }): void;
};

/** What all processes of a fleet say, for one of them that was asked. */
export function createGathering(): Gathering {
  const waiting = new Map<number, (text: string | undefined) => void>();
  let asked = 0;
  const askOne = (member: { send(message: ToMember): void }) =>
    new Promise<string | undefined>((resolve) => {
      const id = (asked += 1);
      const late = setTimeout(() => waiting.get(id)?.(undefined), answer_ms_max);
      waiting.set(id, (text) => {
        clearTimeout(late);
        waiting.delete(id);
        resolve(text);
      });
      member.send({ fleet: "ask", id });
    });
  return {
    ask: async (members) => (await Promise.all(members.map(askOne))).filter((text) => text !== undefined),
    hear: ({ id, text }) => waiting.get(id)?.(text),
  };
}
