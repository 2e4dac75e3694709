/** Level names as the settings take them, in any case, mapped to pino's. */
export const logLevels = {
  debug: "debug",
  info: "info",
  warning: "warn",
  error: "error",
  trace: "trace",
  warn: "warn",
  fatal: "fatal",
  silent: "silent",
} as const;
export type LogLevel = (typeof logLevels)[keyof typeof logLevels];
