const probes = new Set(["/health", "/livez", "/readyz", "/ready", "/metrics"]);

/** Whether this path is asked every few seconds, and by no one who would look for it in a log or a trace. */
export const isProbe = (path: string): boolean => probes.has(path);
