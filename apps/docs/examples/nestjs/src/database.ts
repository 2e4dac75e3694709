import { Injectable, type OnApplicationShutdown } from "@nestjs/common";
import { Pool, type PoolClient } from "pg";

@Injectable()
export class Database implements OnApplicationShutdown {
  private readonly pool = new Pool({ connectionString: process.env.DATABASE_URL });

  async transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK");
      throw error;
    } finally {
      client.release();
    }
  }

  onApplicationShutdown() {
    return this.pool.end();
  }
}
