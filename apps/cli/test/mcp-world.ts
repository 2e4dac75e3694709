import { createClient, type Client as QueueClient } from "@atlasqueue/client";
import type { Scope } from "@atlasqueue/contract";
import { createToken, defaultTenant } from "@atlasqueue/core/internal";
import { provisionTenant } from "@atlasqueue/core/internal/http";
import { testDatabase } from "@atlasqueue/harness";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { silentApi } from "./run-cli.ts";
import { mainFile, serversOf } from "./run-start.ts";

export const transports = ["http", "stdio"] as const;
export type Transport = (typeof transports)[number];
/** 2026-07-28, and the protocols before it. */
export const eras = ["modern", "legacy"] as const;
export type Era = (typeof eras)[number];

export type Answer = {
  /** What the tool answered, as it is typed. */
  data: Record<string, unknown> & { notice: string; cut: string[] };
  text: string;
  isError: boolean;
};

export type Speaker = {
  client: Client;
  /** Call a tool; a failure is an answer too. */
  call(name: string, args?: Record<string, unknown>): Promise<Answer>;
  /** The names of the tools that are listed. */
  names(): Promise<string[]>;
};

/** `url` is another API's, over stdio. */
type Wish = { token: string; era?: Era; toolsets?: string; url?: string };

export type McpWorld = Awaited<ReturnType<typeof mcpWorld>>;

const TRACE_URL_TEMPLATE = "https://traces.example/{trace_id}";

/** A real API with `AUTH=required` on its own database, tokens of two tenants, and the official MCP client. */
export async function mcpWorld() {
  const store = await testDatabase();
  const api = await silentApi({ ...serversOf(store.url), AUTH: "required", TRACE_URL_TEMPLATE });
  const deps = { database: store.database, observe: () => {} };
  const tokenOf = async (scopes: Scope[], tenant: string = defaultTenant): Promise<string> => {
    const made = await createToken(deps, { tenant, name: scopes.join("+"), scopes });
    if (made.kind !== "created") throw new Error("the tenant has too many tokens");
    return made.token;
  };
  const { tenant } = await provisionTenant(deps, "other@example.com");
  const tokens = {
    read: await tokenOf(["read"]),
    submit: await tokenOf(["submit"]),
    work: await tokenOf(["work"]),
    admin: await tokenOf(["admin"]),
    other: await tokenOf(["admin"], tenant),
  };
  const open = new Set<Client>();
  const over = {
    http: ({ token, toolsets }: Wish) => {
      const url = new URL(`${api.url}/mcp${toolsets === undefined ? "" : `?toolsets=${toolsets}`}`);
      return new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } });
    },
    stdio: ({ token, toolsets, url = api.url }: Wish) =>
      new StdioClientTransport({
        command: process.execPath,
        args: [mainFile, "mcp", ...(toolsets === undefined ? [] : ["--toolsets", toolsets])],
        env: { PATH: process.env.PATH ?? "", ATLASQUEUE_URL: url, ATLASQUEUE_TOKEN: token },
      }),
  };

  return {
    api,
    tokens,
    /** Its database, for what no request can do. */
    sql: store.database.sql,
    /** The same API without MCP, to see what happened. */
    queue: (token: string): QueueClient => createClient({ url: api.url, token }),
    async speak(transport: Transport, wish: Wish): Promise<Speaker> {
      const mode = wish.era === "legacy" ? "legacy" : { pin: "2026-07-28" };
      const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
      await client.connect(over[transport](wish));
      open.add(client);
      return speakerOf(client);
    },
    async close() {
      await Promise.all([...open].map((client) => client.close()));
      await api.stop();
      await store.drop();
    },
  };
}

function speakerOf(client: Client): Speaker {
  return {
    client,
    async call(name, args = {}) {
      const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: args });
      const [first] = content as { type: string; text?: string }[];
      return { data: structuredContent as Answer["data"], text: first?.text ?? "", isError };
    },
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
  };
}
