import { z } from "zod";
import { jsonObject } from "./job.ts";

/** What the tools of the MCP server are for: looking, steering, or doing the jobs themselves. */
export const toolsets = ["read", "operate", "work"] as const;
export type Toolset = (typeof toolsets)[number];

/** Few enough for a model to choose well. */
export const defaultToolsets: readonly Toolset[] = ["read", "operate"];

/** Toolsets as text: their names, separated by commas. */
export const toolsetList = z
  .string()
  .regex(new RegExp(`^(${toolsets.join("|")})(,(${toolsets.join("|")}))*$`))
  .transform((text) => toolsets.filter((one) => text.split(",").includes(one)))
  .describe(`names of toolsets, separated by commas: ${toolsets.join(", ")}`);

/** The query of `POST /mcp`. */
export const mcpQuery = z.strictObject({ toolsets: toolsetList.optional().describe(toolsetList.description ?? "") });

const version = z.literal("2.0").describe('"2.0"');
const id = z.union([z.string(), z.int()]).describe("a string or an integer");

/** The body of `POST /mcp`: one message of JSON-RPC, by the rules of MCP. No lists of them. */
export const jsonRpcMessage = z.strictObject({
  jsonrpc: version,
  id: id.optional().describe(id.description ?? ""),
  method: z.string().optional().describe("a string"),
  params: jsonObject.optional().describe("a JSON object"),
  // Of an answer to a request of the server's, of which there are none.
  result: jsonObject.optional().describe("a JSON object"),
  error: jsonObject.optional().describe("a JSON object"),
});

/** What a message is answered with: a result or an error. */
export const jsonRpcAnswer = z.strictObject({
  jsonrpc: version,
  id: id.nullable().optional(),
  result: jsonObject.optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});
export type JsonRpcAnswer = z.infer<typeof jsonRpcAnswer>;
