import { z } from "zod";
import { jsonObject } from "./job.ts";
import { describeFields } from "../checks/field-texts.ts";

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
export const mcpQuery = describeFields(
  z.strictObject({ toolsets: toolsetList.optional().describe(toolsetList.description ?? "") }),
  {
    toolsets: "Which tools to offer. `read` and `operate` by default.",
  },
);

const version = z.literal("2.0").describe('"2.0"');
const id = z.union([z.string(), z.int()]).describe("a string or an integer");

/** The body of `POST /mcp`: one message of JSON-RPC, by the rules of MCP. No lists of them. */
export const jsonRpcMessage = describeFields(
  z.strictObject({
    jsonrpc: version,
    id: id.optional().describe(id.description ?? ""),
    method: z.string().optional().describe("a string"),
    params: jsonObject.optional().describe("a JSON object"),
    // Of an answer to a request of the server's, of which there are none.
    result: jsonObject.optional().describe("a JSON object"),
    error: jsonObject.optional().describe("a JSON object"),
  }),
  {
    jsonrpc: "The version of JSON-RPC.",
    id: "The id of the request. A notification has none.",
    method: "The method to call.",
    params: "The method's parameters.",
    result: "Not used: this server sends no requests.",
    error: "Not used: this server sends no requests.",
  },
);

/** What a message is answered with: a result or an error. */
export const jsonRpcAnswer = describeFields(
  z.strictObject({
    jsonrpc: version,
    id: id.nullable().optional(),
    result: jsonObject.optional(),
    error: describeFields(z.looseObject({ code: z.int(), message: z.string() }), {
      code: "The error's number, by JSON-RPC.",
      message: "What went wrong.",
    }).optional(),
  }),
  {
    jsonrpc: "The version of JSON-RPC.",
    id: "The id of the request that this is the response to.",
    result: "The method's result.",
    error: "Why the method failed.",
  },
);
export type JsonRpcAnswer = z.infer<typeof jsonRpcAnswer>;
