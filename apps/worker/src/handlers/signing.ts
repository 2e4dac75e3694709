import { createHmac } from "node:crypto";
import { setting } from "@atlasqueue/program";

/** The secrets by name, each with its keys, the newest first. */
export type Secrets = ReadonlyMap<string, readonly Buffer[]>;

/** Jobs that name no secret are signed with this one, if there is one. */
export const defaultSecret = "default";

const entry = /^([\w.-]{1,100})=whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;
const accepts =
  "name=whsec_… with 24 to 64 bytes in base64, separated by commas; a name may have two while a secret is replaced";

/** `WEBHOOK_SECRETS`: the newest of a name comes first. */
export const secretsSetting = setting
  .list(accepts)
  .refine((entries) => entries.every((one) => entry.test(one)))
  .describe(accepts)
  .default([]);

/** What `secretsSetting` has accepted, as keys. */
export function readSecrets(entries: readonly string[]): Secrets {
  const secrets = new Map<string, Buffer[]>();
  for (const one of entries) {
    const [, name = "", key = ""] = entry.exec(one) ?? [];
    secrets.set(name, [...(secrets.get(name) ?? []), Buffer.from(key, "base64")]);
  }
  return secrets;
}

/**
 * The headers of https://www.standardwebhooks.com: the message's id, the same in each attempt, the attempt's time, and one
 * signature for each key, so that a receiver with the old or the new one accepts it. None without keys.
 *
 * @example
 * signatureHeaders([key], { id: job.id, text, now_ms: Date.now() })["webhook-signature"]; // "v1,K5oZ…"
 */
export function signatureHeaders(
  keys: readonly Buffer[],
  { id, text, now_ms }: { id: string; text: string; now_ms: number },
): Record<string, string> {
  if (keys.length === 0) return {};
  const time = String(Math.floor(now_ms / 1_000));
  const signed = keys.map((key) => `v1,${createHmac("sha256", key).update(`${id}.${time}.${text}`).digest("base64")}`);
  return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signed.join(" ") };
}
