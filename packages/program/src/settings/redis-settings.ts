import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { z } from "zod";
import { parseRedisUrl, SettingError, type RedisTls } from "@atlasqueue/core/internal/program";
import { setting } from "./settings.ts";

/** Where Redis is, and for `rediss` how it and we show who we are. */
export const redisSettings = {
  REDIS_URL: setting.redisUrl().optional(),
  REDIS_TLS_CA_FILE: setting.pemFile("certificates").optional(),
  REDIS_TLS_CERT_FILE: setting.pemFile("certificates").optional(),
  REDIS_TLS_KEY_FILE: setting.pemFile("a private key").optional(),
  REDIS_TLS_SERVERNAME: setting.host().optional(),
};

type RedisValues = z.output<z.ZodObject<typeof redisSettings>>;

/** What those of TLS amount to; nothing without `rediss`. Throws `SettingError` when they do not go together. */
export function redisTls(set: RedisValues): RedisTls | undefined {
  const { REDIS_TLS_CA_FILE: ca, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: key } = set;
  const names = (Object.keys(redisSettings) as (keyof RedisValues)[]).filter((name) => name !== "REDIS_URL");
  const given = names.filter((name) => set[name] !== undefined);
  const [first] = given;
  if (first === undefined) return undefined;
  if (set.REDIS_URL === undefined) throw new SettingError(`${first} is for the Redis at REDIS_URL, which is not set`);
  if (!parseRedisUrl(set.REDIS_URL).tls)
    throw new SettingError(
      `${first} is for TLS: REDIS_URL must begin with rediss://, rediss+sentinel:// or rediss+cluster://`,
    );
  if ((cert === undefined) !== (key === undefined))
    throw new SettingError(
      `${cert === undefined ? "REDIS_TLS_CERT_FILE" : "REDIS_TLS_KEY_FILE"} is not set; a certificate of our own and its key go together`,
    );
  const usable = (name: string, use: () => void): void => {
    try {
      use();
    } catch (error) {
      throw new SettingError(`${name} cannot be used: ${(error as Error).message}`);
    }
  };
  // Node passes over the ones it cannot read.
  usable("REDIS_TLS_CA_FILE", () => {
    for (const [one] of (ca ?? "").matchAll(/-----BEGIN.*?-----END[^\n]*/gs)) void new X509Certificate(one);
  });
  usable("REDIS_TLS_KEY_FILE", () => createSecureContext({ key }));
  usable("REDIS_TLS_CERT_FILE", () => createSecureContext({ cert, key }));
  return { ca, cert, key, servername: set.REDIS_TLS_SERVERNAME };
}
