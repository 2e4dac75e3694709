import { expect, test } from "vitest";
import { isTraceUrlTemplate, traceUrl } from "./trace-url.ts";

test.each([
  "https://jaeger.example.com/trace/{trace_id}",
  "http://localhost:16686/trace/{trace_id}",
  "https://tempo.example.com/explore?left={trace_id}&right={trace_id}",
  "https://x.example/#/traces/{trace_id}",
])("%s is a template", (text) => {
  expect(isTraceUrlTemplate(text)).toBe(true);
});

test.each([
  "javascript:alert('{trace_id}')",
  "data:text/html,{trace_id}",
  "//evil.example/{trace_id}",
  "/trace/{trace_id}",
  "https://{trace_id}.example/",
  "https://{trace_id}/",
  "https://example.com:{trace_id}/",
  "https://example.com\\{trace_id}/",
  "https://user:secret@example.com/{trace_id}",
  "https://example.com/trace",
  "https://example.com/ {trace_id}",
  " https://example.com/{trace_id}",
  "",
])("%j is none", (text) => {
  expect(isTraceUrlTemplate(text)).toBe(false);
});

test("a trace's id goes where the template has its place", () => {
  expect(traceUrl("https://t.example/{trace_id}?of={trace_id}", "0af7")).toBe("https://t.example/0af7?of=0af7");
  expect(traceUrl(undefined, "0af7")).toBeNull();
  expect(traceUrl("https://t.example/{trace_id}", null)).toBeNull();
});
