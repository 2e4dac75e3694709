import { eventually } from "@atlasqueue/harness";

/**
 * Until an API's `/readyz` says that Redis can, or cannot, be used: it has noticed what was done to it.
 *
 * @example
 * await redisIs("away", api.url);
 */
export async function redisIs(wanted: "up" | "away", url: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${url}/readyz`);
    const { checks } = (await answer.json()) as { checks?: { redis?: string } };
    if ((checks?.redis === "up") !== (wanted === "up")) throw new Error(`Redis is ${checks?.redis}`);
  });
}
