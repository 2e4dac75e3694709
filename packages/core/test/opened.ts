import { tcpProxy, type TcpProxy } from "@atlasqueue/harness";
import { onTestFinished } from "vitest";
import { connectDatabase, type Database, type DatabaseOptions } from "../src/database/connect.ts";

// What a test opens, and what is closed when it ends, the latest first.

export function openDatabase(options: DatabaseOptions): Database {
  const database = connectDatabase(options);
  onTestFinished(() => database.close());
  return database;
}

export async function openProxy(url: string): Promise<TcpProxy> {
  const proxy = await tcpProxy(url);
  onTestFinished(() => proxy.close());
  return proxy;
}
