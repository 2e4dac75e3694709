import type { checkedRequests } from "./checked-request.ts";

type Called = ReturnType<typeof checkedRequests>["call"];

/** What agents send, in both of the protocol's manners. */
export async function tourMcp(call: Called): Promise<void> {
  const jsonrpc = "2.0";
  await call("mcp", 200, { body: { jsonrpc, id: 1, method: "tools/list" } });
  await call("mcp", 200, { body: { jsonrpc, id: 1, method: "nothing/such" } });
  await call("mcp", 202, { body: { jsonrpc, method: "notifications/initialized" } });
  const modern = (version: string, method: string) => ({
    headers: { "mcp-protocol-version": version, "mcp-method": method },
    body: {
      jsonrpc,
      id: "a",
      method,
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    },
  });
  await call("mcp", 200, modern("2026-07-28", "server/discover"));
  await call("mcp", 404, modern("2026-07-28", "nothing/such"));
  await call("mcp", 400, modern("2031-01-01", "server/discover"));
  await call("mcp", 400, { body: {} });
  await call("mcp", 400, { body: "{" });
}

/** What the API says about itself. */
export async function tourItself(call: Called): Promise<void> {
  for (const operation of ["getHealth", "getLiveness", "getReadiness", "getReady", "getMetrics"])
    await call(operation, 200);
  for (const operation of ["getOpenApi", "getDocs"]) {
    const response = await call(operation, 200);
    await call(operation, 304, { headers: { "if-none-match": response.headers.get("etag") ?? "" } });
  }
  await call("getDocsFile", 200, { params: { file: "start.js" } });
  await call("getDocsFile", 404, { params: { file: "other.js" } });
  await call("getProblem", 200, { params: { kind: "lease-lost" } });
  await call("getProblem", 404, { params: { kind: "constructor" } });
}

/** What the dashboard's first page asks. */
export async function tourFigures(call: Called): Promise<void> {
  await call("getOverview", 200);
  await call("getOverview", 422, { query: { queue: "tour" } });
  await call("getStatsSeries", 200, { query: { window: "30d", queue: "tour" } });
  await call("getStatsSeries", 422, { query: { window: "1y" } });
  await call("getThroughput", 200, { query: { queues: "tour,other" } });
  await call("getThroughput", 422);
  await call("listenToEvents", 200, { query: { queues: "tour,other" } });
  await call("listenToEvents", 422, { query: { queues: "not a name" } });
}
