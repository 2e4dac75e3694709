import { certificateAuthority } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { parseDatabaseUrl } from "@atlasqueue/core/internal/program";
import { databaseSettings, databaseUrl, parseSettings } from "./settings.ts";

const read = (env: Record<string, string>) => databaseUrl(parseSettings(z.object(databaseSettings), env));

test("DATABASE_TLS_CA_FILE checks the server, wholly unless sslmode asks for less", () => {
  const authority = certificateAuthority();
  onTestFinished(() => authority.remove());
  const sslOf = (DATABASE_URL: string) =>
    parseDatabaseUrl(read({ DATABASE_URL, DATABASE_TLS_CA_FILE: authority.ca_file })).driver.ssl;
  expect(sslOf("postgres://u:p@h/q")).toMatchObject({ rejectUnauthorized: true, optional: false, ca: authority.ca });
  expect(sslOf("postgres://u:p@h/q")).not.toHaveProperty("checkServerIdentity");
  expect(sslOf("postgres://u:p@h/q?sslmode=require")).toHaveProperty("checkServerIdentity");
  for (const url of ["postgres://h/q?sslmode=disable", "postgres://h/q?sslmode=prefer", "postgres:///q?host=/run"])
    expect(() => sslOf(url)).toThrow("DATABASE_TLS_CA_FILE needs a host in DATABASE_URL, and no sslmode or one of");
});

test("a file that is none is one line", () => {
  const env = { DATABASE_URL: "postgres://u:s3cret@h/q", DATABASE_TLS_CA_FILE: "/nowhere" };
  const line = 'DATABASE_TLS_CA_FILE must be the path of a PEM file with certificates; got "/nowhere": ENOENT';
  expect(() => read(env)).toThrow(line);
});
