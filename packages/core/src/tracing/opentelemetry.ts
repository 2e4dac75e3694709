// What users import as `@atlasqueue/core/opentelemetry`: the only path by which `@opentelemetry/api` is loaded.
export { activeIn, openTelemetry, type OpenTelemetryOptions } from "@atlasqueue/contract/opentelemetry";
