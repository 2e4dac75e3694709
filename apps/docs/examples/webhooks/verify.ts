import { createHmac, timingSafeEqual } from "node:crypto";

/** Whether a request was signed with this secret (`whsec_…`) in the last five minutes. `body` is the text as it came. */
export function isSigned(secret: string, headers: Record<string, string | undefined>, body: string): boolean {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signatures = "" } = headers;
  if (!(Math.abs(Date.now() / 1_000 - Number(time)) < 300)) return false;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest();
  return signatures.split(" ").some((signature) => {
    const given = Buffer.from(signature.replace("v1,", ""), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
