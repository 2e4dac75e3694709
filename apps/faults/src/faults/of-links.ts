import { setTimeout as delay } from "node:timers/promises";
import type { TcpProxy } from "@atlasqueue/harness/servers";
import { lease_ms, linksOf, type Part } from "../rig/cast.ts";
import type { Card } from "./card.ts";

const every = (parts: readonly Part[]) => linksOf(parts);
const to = (servers: RegExp) => (parts: readonly Part[]) => linksOf(parts).filter((name) => servers.test(name));

/** Something is done to a link, and undone after a while. */
function broken(
  name: string,
  sizes: readonly number[],
  act: (link: TcpProxy, size: number) => void,
  {
    victims = every,
    lasts_ms = (size: number) => size,
  }: Partial<Pick<Card, "victims">> & {
    lasts_ms?: (size: number) => number;
  } = {},
): Card {
  return {
    name,
    victims,
    sizes,
    takes_ms: lasts_ms,
    async play({ links }, { victim, size }) {
      const link = links.named(victim);
      act(link, size);
      try {
        await delay(lasts_ms(size));
      } finally {
        links.heal(link);
      }
    },
  };
}

const short_ms = [lease_ms / 2, lease_ms * 2];
/** So long an answer is waited for that is to be cut. */
const armed_ms = () => 5_000;
const bytes = [1, 60, 700, 9_000];

/** What happens to the network between two of them. */
export const linkCards: readonly Card[] = [
  broken("latency", [50, 300, 900], (link, size) => link.delay(size), { lasts_ms: () => 8_000 }),
  broken("black-hole", short_ms, (link) => link.blackhole()),
  broken("answers-lost", short_ms, (link) => link.blackhole("answers")),
  broken("questions-lost", short_ms, (link) => link.blackhole("questions")),
  broken("reset", [0], (link) => link.reset()),
  broken("refused", short_ms, (link) => link.refuse()),
  broken("cut-in-an-answer", bytes, (link, size) => link.cutAnswersAfter(size), { lasts_ms: armed_ms }),
  broken("cut-in-a-question", bytes, (link, size) => link.cutQuestionsAfter(size), { lasts_ms: armed_ms }),
  ...["COMMIT\0", "UPDATE ", "INSERT 0 ", "SELECT "].map((text) =>
    broken(`answer-lost-at-${text.toLowerCase().replace(/[^a-z]/g, "")}`, [0], (link) => link.cutAnswerWith(text), {
      victims: to(/>postgres$/),
      lasts_ms: armed_ms,
    }),
  ),
  ...["201", "200"].map((status) =>
    broken(`answer-lost-at-${status}`, [0], (link) => link.cutAnswerWith(`HTTP/1.1 ${status}`), {
      victims: to(/>api-\d$/),
      lasts_ms: armed_ms,
    }),
  ),
];
