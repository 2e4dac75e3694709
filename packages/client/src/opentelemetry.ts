// What users import as `@atlasqueue/client/opentelemetry`: the only path by which `@opentelemetry/api` is loaded.
export { openTelemetry, type OpenTelemetryOptions } from "@atlasqueue/contract/opentelemetry";
