import {
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
  showToken,
  type Deps,
  type MadeToken,
} from "@atlasqueue/core/internal";
import type { TokenWish } from "@atlasqueue/core/internal/tools";
import { Trouble } from "../exit.ts";
import { note } from "../output/note.ts";
import { writeJson, type Output } from "../output/output.ts";
import { showTable } from "../output/table.ts";
import { tokenColumns } from "./columns.ts";

const undefined_tenant = "23503";
const unknown = (id: string, tenant: string) => new Trouble(`the tenant ${tenant} has no token ${id} that works`);
const tooMany = () => new Trouble("the tenant has as many tokens as it may; revoke one that is no longer used");

/** Make a token and print it. Throws `Trouble` when the tenant is unknown, or has too many. */
export async function create(deps: Deps, wish: TokenWish, output: Output): Promise<void> {
  const outcome = await createToken(deps, wish).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== undefined_tenant) throw error;
    throw new Trouble(`there is no tenant ${JSON.stringify(wish.tenant)}; POST /admin/provision makes one`);
  });
  if (outcome.kind !== "created") throw tooMany();
  const { id, name, scopes } = outcome.row;
  printOnce(outcome, output);
  await note(deps, output, { tenant: wish.tenant, action: "token.create", target: id, detail: { name, scopes } });
}

export async function list(deps: Deps, tenant: string, output: Output): Promise<void> {
  const tokens = (await listTokens(deps, tenant)).map(showToken);
  if (output.json) return writeJson(output, { items: tokens });
  if (tokens.length === 0) return output.tell(`No valid tokens in the tenant ${tenant}\n`);
  showTable(output, tokenColumns, tokens);
}

/** Throws `Trouble` when the tenant has no such token. */
export async function rotate(
  deps: Deps,
  which: { tenant: string; id: string; overlap_seconds: number },
  output: Output,
): Promise<void> {
  const outcome = await rotateToken(deps, which);
  if (outcome.kind === "unknown") throw unknown(which.id, which.tenant);
  if (outcome.kind === "rotated_before")
    throw new Trouble(`${outcome.successor} has already taken its place; rotate or revoke that one`);
  if (outcome.kind !== "rotated") throw tooMany();
  printOnce(outcome, output);
  output.tell(`the old token works for ${which.overlap_seconds} s more\n`);
  const detail = { successor: outcome.row.id, name: outcome.row.name };
  await note(deps, output, { tenant: which.tenant, action: "token.rotate", target: which.id, detail });
}

/** Throws `Trouble` when the tenant has no such token. */
export async function revoke(deps: Deps, tenant: string, id: string, output: Output): Promise<void> {
  if (!(await revokeToken(deps, tenant, id))) throw unknown(id, tenant);
  output.tell(`${id} is revoked; every API refuses it within 5 s\n`);
  await note(deps, output, { tenant, action: "token.revoke", target: id, detail: null });
}

/** Only the token on stdout, so that it can go where it is needed without being shown on a screen. */
function printOnce({ token, row }: MadeToken, output: Output): void {
  if (output.json) return writeJson(output, { ...showToken(row), token });
  showTable({ ...output, write: output.tell }, tokenColumns, [showToken(row)]);
  output.tell("the token itself, which cannot be shown again:\n");
  output.write(`${token}\n`);
}
