import { createToken as createTokenBody, limits, scopes, type Scope } from "@atlasqueue/contract";
import { defaultTenant, isUuid } from "@atlasqueue/core/internal";
import { InvalidArgumentError, Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf } from "../output/output.ts";
import { jsonOption } from "../remote/options.ts";
import { withStarted } from "../started.ts";
import { integer } from "../submit/job-fields.ts";
import { create, list, revoke, rotate } from "../tokens/actions.ts";
import { withDatabase } from "../tokens/with-database.ts";

const tenantOption = () => new Option("--tenant <name>", "Tenant of the tokens").default(defaultTenant);

export function defineTokens(tokens: Command, env: Env): void {
  tokens
    .command("create")
    .description("Create a token and print it once, on stdout.")
    .requiredOption("--name <name>", "Name of the token", parseName)
    .requiredOption("--scopes <list>", `Scopes, separated by commas: ${scopes.join(", ")}`, parseScopes)
    .option("--expires-in-seconds <n>", "Lifetime (default: never expires)", (text) =>
      integer(text, 1, limits.token_seconds_max),
    )
    .addOption(tenantOption())
    .addOption(jsonOption())
    .action(({ name, scopes: wanted, expiresInSeconds, tenant, json }) =>
      orExit(() =>
        withDatabase(withStarted(env), (deps) =>
          create(deps, { tenant, name, scopes: wanted, expires_in_seconds: expiresInSeconds }, outputOf({ json })),
        ),
      ),
    );

  tokens
    .command("list")
    .description("List a tenant's valid tokens, newest first.")
    .addOption(tenantOption())
    .addOption(jsonOption())
    .action(({ tenant, json }) =>
      orExit(() => withDatabase(withStarted(env), (deps) => list(deps, tenant, outputOf({ json })))),
    );

  tokens
    .command("rotate")
    .description("Replace a token and print the new one; the old one still works for a while.")
    .argument("<id>", "Token ID, from `tokens list`", parseId)
    .option(
      "--overlap-seconds <n>",
      "How long the old token stays valid, in seconds",
      (text) => integer(text, 0, limits.token_overlap_seconds_max),
      limits.token_overlap_seconds_default,
    )
    .addOption(tenantOption())
    .addOption(jsonOption())
    .action((id, { overlapSeconds, tenant, json }) =>
      orExit(() =>
        withDatabase(withStarted(env), (deps) =>
          rotate(deps, { tenant, id, overlap_seconds: overlapSeconds }, outputOf({ json })),
        ),
      ),
    );

  tokens
    .command("revoke")
    .description("Revoke a token. APIs refuse it within 5 s.")
    .argument("<id>", "Token ID, from `tokens list`", parseId)
    .addOption(tenantOption())
    .action((id, { tenant }) =>
      orExit(() => withDatabase(withStarted(env), (deps) => revoke(deps, tenant, id, outputOf()))),
    );
}

function parseName(text: string): string {
  const { name } = createTokenBody.shape;
  if (name.safeParse(text).success) return text;
  throw new InvalidArgumentError(`It must be ${name.description}.`);
}

function parseScopes(text: string): Scope[] {
  const parsed = createTokenBody.shape.scopes.safeParse(text.split(",").map((part) => part.trim()));
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`It must be ${createTokenBody.shape.scopes.description}.`);
}

function parseId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError("It must be a UUID.");
}
