import { keyType, setAsideKey, type SignalKeys } from "../keys.ts";
import type { ScriptedRedis } from "./commands.ts";

/** KEYS: key, and the name it gets. ARGV: the type it should have. */
export const setAsideScript = `
local type = redis.call('TYPE', KEYS[1]).ok
if type == 'none' or type == ARGV[1] then return 0 end
redis.call('RENAME', KEYS[1], KEYS[2])
return 1`;

/**
 * Someone put a value of another type under one of our keys, and no command there would ever succeed again. Ours can be
 * rebuilt and theirs may matter to them: theirs gets another name, replacing what was set aside there before. Resolves
 * with the keys set aside, of those the failed command named.
 */
export async function setAside(redis: ScriptedRedis, keys: SignalKeys, error: Error): Promise<string[]> {
  const { args = [] } = (error as { command?: { args?: unknown[] } }).command ?? {};
  const moved: string[] = [];
  for (const key of new Set(args.map(String))) {
    const type = keyType(keys, key);
    if (type && (await redis.setAside(key, setAsideKey(keys, key), type)) === 1) moved.push(key);
  }
  return moved;
}

/** Redis 6 says so in the middle of a script's error. */
export const isWrongType = (error: unknown): error is Error =>
  error instanceof Error && error.message.includes("WRONGTYPE");
