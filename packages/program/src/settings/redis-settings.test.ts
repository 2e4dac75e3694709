import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { certificateAuthority, type Authority, type Certificate } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { redisSettings, redisTls } from "./redis-settings.ts";
import { parseSettings } from "./settings.ts";

let authority: Authority;
let one: Certificate;
let other: Certificate;
beforeAll(() => {
  authority = certificateAuthority();
  one = authority.issue("one");
  other = authority.issue("other");
});
afterAll(() => authority.remove());

const read = (env: Record<string, string>) => redisTls(parseSettings(z.object(redisSettings), env));
const rediss = { REDIS_URL: "rediss://:secret@redis.internal" };

test("the files of TLS are read", () => {
  expect(
    read({
      REDIS_URL: "rediss+cluster://a,b",
      REDIS_TLS_CA_FILE: authority.ca_file,
      REDIS_TLS_CERT_FILE: one.cert_file,
      REDIS_TLS_KEY_FILE: one.key_file,
      REDIS_TLS_SERVERNAME: "redis.internal",
    }),
  ).toEqual({ ca: authority.ca, cert: one.cert, key: one.key, servername: "redis.internal" });
  expect(read(rediss)).toBeUndefined();
});

test("what cannot be used is one line that names the setting, what it takes and what it got", () => {
  const broken = join(dirname(one.key_file), "broken.pem");
  writeFileSync(broken, "-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n");
  const wrong: [Record<string, string>, string | RegExp][] = [
    [
      { REDIS_TLS_CA_FILE: "/nowhere.pem" },
      'REDIS_TLS_CA_FILE must be the path of a PEM file with certificates; got "/nowhere.pem": ENOENT',
    ],
    [{ REDIS_TLS_CA_FILE: dirname(one.key_file) }, ": EISDIR"],
    [{ REDIS_TLS_CA_FILE: one.key_file }, /^REDIS_TLS_CA_FILE must be .* got ".*one\.key": there is none in it$/],
    [
      { REDIS_TLS_KEY_FILE: one.cert_file },
      /^REDIS_TLS_KEY_FILE must be the path of a PEM file with a private key; got ".*one\.crt": there is none/,
    ],
    [{ REDIS_TLS_CA_FILE: broken }, /^REDIS_TLS_CA_FILE cannot be used: /],
    [
      { REDIS_TLS_CERT_FILE: one.cert_file },
      "REDIS_TLS_KEY_FILE is not set; a certificate of our own and its key go together",
    ],
    [
      { REDIS_TLS_KEY_FILE: one.key_file },
      "REDIS_TLS_CERT_FILE is not set; a certificate of our own and its key go together",
    ],
    [
      { REDIS_TLS_CERT_FILE: one.cert_file, REDIS_TLS_KEY_FILE: other.key_file },
      /^REDIS_TLS_CERT_FILE cannot be used: .*key/,
    ],
    [
      { REDIS_TLS_SERVERNAME: "https://redis" },
      'REDIS_TLS_SERVERNAME must be the name of a host, such as redis.internal; got "https://redis"',
    ],
    [
      { REDIS_URL: "redis://:secret@a", REDIS_TLS_CA_FILE: authority.ca_file },
      "REDIS_TLS_CA_FILE is for TLS: REDIS_URL must begin with rediss://",
    ],
    [
      { REDIS_URL: "", REDIS_TLS_CA_FILE: authority.ca_file },
      "REDIS_TLS_CA_FILE is for the Redis at REDIS_URL, which is not set",
    ],
    [
      { REDIS_URL: "rediss+sentinel://:secret@a,b" },
      'REDIS_URL must end in the name that the sentinels have for the servers, as in redis+sentinel://host:26379/name; got "rediss+sentinel://[hidden]@a,b"',
    ],
  ];
  for (const [env, line] of wrong) {
    const parse = () => read({ ...rediss, ...env });
    expect(parse).toThrow(line);
    expect(parse).not.toThrow(/secret|\n/);
  }
});
