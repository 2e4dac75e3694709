import { readApiConfig, startApi } from "@atlasqueue/api";
import { testDatabase } from "@atlasqueue/harness";
import { onTestFinished } from "vitest";

/** A migrated database and a real API over it, until the test ends. Without Redis, as the smallest installation. */
export async function startSystem(): Promise<{ databaseUrl: string; apiUrl: string }> {
  const { url, drop } = await testDatabase();
  const api = await startApi(
    readApiConfig({ DATABASE_URL: url, API_PORT: "0", DATABASE_TIMEOUT_SECONDS: "15", LOG_LEVEL: "ERROR" }),
  );
  onTestFinished(async () => {
    await api.stop();
    await drop();
  });
  return { databaseUrl: url, apiUrl: api.url };
}
