import { scopes } from "@atlasqueue/contract";
import { connectDatabase, memorySignal } from "@atlasqueue/core";
import { createToken } from "@atlasqueue/core/internal";

/** Makes the tenants, and for each a token that may do everything: `default=aq_…,other=aq_…`, as the programs take it. */
export async function makeTokens(url: string, tenants: readonly string[]): Promise<string> {
  const database = connectDatabase({ url, connectionsMax: 1, timeoutMs: 10_000 });
  const deps = { database, observe: () => {}, signal: memorySignal() };
  try {
    const pairs: string[] = [];
    for (const tenant of tenants) {
      await database.sql`INSERT INTO atlasqueue.tenants (tenant) VALUES (${tenant}) ON CONFLICT DO NOTHING`;
      const made = await createToken(deps, { tenant, name: "faults", scopes });
      if (made.kind !== "created") throw new Error(`no token for ${tenant}: ${made.kind}`);
      pairs.push(`${tenant}=${made.token}`);
    }
    return pairs.join(",");
  } finally {
    await database.close();
  }
}
