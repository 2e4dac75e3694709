import { expect, test } from "vitest";
import { banner } from "./banner.ts";

const shown = (
  redis: string,
  database = "postgres://jobs:secret@a:5432,b:5432/queue?sslmode=require&password=secret",
  root = false,
) =>
  banner({
    api_url: "http://127.0.0.1:8000",
    metrics_url: "http://127.0.0.1:9091/metrics",
    dashboard: false,
    dlq_key: "atlasqueue:dlq",
    database: { kind: "given", url: database },
    redis: { kind: "given", url: redis },
    tokens: false,
    root,
  });

test.each([
  ["redis://:secret@host:6379/1", "redis://host:6379/1"],
  ["rediss+cluster://jobs:se%40cret@a:1,b:2", "rediss+cluster://jobs@a:1,b:2"],
  [
    "redis+sentinel://:secret@a:1,b:2/main?sentinel_username=watch&sentinel_password=secret",
    "redis+sentinel://a:1,b:2/main?sentinel_username=watch",
  ],
  ["redis://jobs:no@secret@a:1", "redis://jobs@a:1"],
  ["redis://jobs@b:secret@a:1", "redis://jobs@b@a:1"],
  ["redis://@:secret@a:1", "redis://@@a:1"],
  ["redis://jobs:secret@a:1/b@c", "redis://jobs@a:1/b@c"],
  ["redis+sentinel://a/main?sentinel_password=secret&database=2", "redis+sentinel://a/main?database=2"],
])("%s is shown without its passwords", (url, expected) => {
  const text = shown(url);
  expect(text).toContain(`Redis:       ${expected}\n`);
  expect(text).toContain("Database:    postgres://jobs@a:5432,b:5432/queue?sslmode=require\n");
  expect(text).not.toMatch(/se(%40)?cret/);
});

test("as root, a warning says that handlers run as root", () => {
  expect(shown("redis://a", "postgres://a/b", true)).toContain("all handlers run as root");
  expect(shown("redis://a", "postgres://a/b", false)).not.toContain("root");
});
