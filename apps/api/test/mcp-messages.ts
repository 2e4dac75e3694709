/** What a client of 2026-07-28 sends with each message, in its headers and in its parameters. */
export const modern = { "mcp-protocol-version": "2026-07-28" };
export const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What clients of the protocols before it send. */
export const toolCall = (name: string, args: object) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args },
});
