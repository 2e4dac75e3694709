import { chance, oneOf, type Chance } from "../chance.ts";
import type { World } from "./world.ts";

/** One act of a submitter: what it draws depends on the seed and its number alone. */
export type Turn = { number: number; random: Chance; tenant: string; nonce: string };

export function turnOf({ config, tenants, name }: World, number: number): Turn {
  const random = chance(config.seed, config.process, number);
  return { number, random, tenant: oneOf(random, tenants), nonce: `${name}-${number}` };
}

/** A kind of act: how many jobs one is, about, and which share of all acts it is. */
export type Act = {
  name: string;
  weight: number;
  jobs: number;
  perform(world: World, turn: Turn): Promise<unknown>;
};
