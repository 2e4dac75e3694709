import { expect, test } from "vitest";
import { z } from "zod";
import { SettingError } from "@atlasqueue/core";
import { loadTelemetry } from "../load-telemetry.ts";
import { parseSettings, setting } from "./settings.ts";
import { telemetryConfig, telemetrySettings, withOwnTelemetry } from "./telemetry-settings.ts";

const read = (env: Record<string, string>) =>
  telemetryConfig(parseSettings(z.object(telemetrySettings), withOwnTelemetry(env))).telemetry;

test("without an endpoint nothing is exported, whatever else is set for another SDK", () => {
  expect(read({})).toBeUndefined();
  expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_TRACES_SAMPLER: "xray" })).toBeUndefined();
});

test("an endpoint brings OpenTelemetry's defaults, and loses its last slash", () => {
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/" })).toEqual({
    endpoint: "http://127.0.0.1:4318",
    protocol: "http/protobuf",
    service_name: undefined,
    sampler: { name: "parentbased_always_on", share: 1 },
    metrics_ms: 60_000,
    child_attempts: "first",
    create_spans: true,
  });
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "javascript:alert(1)"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_TRACES_SAMPLER", "xray"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
  ["TRACE_CHILD_ATTEMPTS", "some"],
])("%s=%s is refused in one line that names it", (name, value) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", [name]: value };
  expect(() => read(env)).toThrow(SettingError);
  expect(() => read(env)).toThrow(RegExp(`^${name} must be [^\n]+$`));
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://me:pass/w@rd@collector:4318", "ftp://[hidden]@collector:4318"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "me:password@collector:4318", "[hidden]@collector:4318"],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "gopher://collector?key=password&b=password#c",
    "gopher://collector?key=[hidden]&b=[hidden]#c",
  ],
  ["TRACE_URL_TEMPLATE", "https://me:password@traces.example/", "https://[hidden]@traces.example/"],
])("%s=%s is refused without what is secret in it", (name, value, shown) => {
  const schema = z.object({ ...telemetrySettings, TRACE_URL_TEMPLATE: setting.traceUrlTemplate().optional() });
  const parse = () => parseSettings(schema, { [name]: value });
  expect(parse).toThrow(SettingError);
  expect(parse).toThrow(JSON.stringify(shown));
  expect(parse).not.toThrow(/pass/);
});

test("a package that is not installed is a setting that cannot be used", async () => {
  const config = read({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" });
  const missing = Object.assign(new Error("Cannot find package 'x'"), { code: "ERR_MODULE_NOT_FOUND" });
  const load = () => Promise.reject(missing);
  await expect(loadTelemetry(config, "test", load)).rejects.toThrow(SettingError);
  expect(await loadTelemetry(undefined, "test", load)).toBeUndefined();
});
