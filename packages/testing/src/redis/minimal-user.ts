import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";

const page = readFileSync(new URL("../../../../apps/docs/pages/operate/redis.md", import.meta.url), "utf8");

/**
 * Makes the user of the operators' page on a server or a sentinel, and gives the part of a URL that names it. With
 * `test:` in the place of `atlasqueue:` it may use the keys of tests (`uniqueKeys`).
 *
 * @example
 * const url = `redis://${await minimalUser(redis)}@127.0.0.1:6379`;
 */
export async function minimalUser(
  redis: Redis,
  { of = "server", keys = "test:" }: { of?: "server" | "sentinel"; keys?: "test:" | "atlasqueue:" } = {},
): Promise<string> {
  const lines = page.split("\n").filter((line) => line.startsWith("ACL SETUSER atlasqueue "));
  const line = lines.find((one) => one.includes("+sentinel|") === (of === "sentinel")) ?? "";
  const channels = keys === "test:" ? "test:*:" : "atlasqueue:jobs:";
  const words = line
    .replace(">PASSWORD", ">of-the-user")
    .replaceAll("atlasqueue:jobs:", channels)
    .replaceAll(/(?<=~\{?)atlasqueue:/g, keys);
  const [, ...rest] = words.split(" ");
  await redis.acl(...(rest as ["SETUSER", string, ...string[]]));
  return "atlasqueue:of-the-user";
}
