import { NotFoundError, type CallOptions, type Client } from "@atlasqueue/client";
import type { Queue } from "@atlasqueue/contract";
import { Refusal } from "../refusal.ts";

/** One queue, by its name. Throws a `Refusal` when there is none. */
export async function queueNamed(client: Client, name: string, call: CallOptions): Promise<Queue> {
  try {
    const { starts: _starts, ...queue } = await client.queue(name, call);
    return queue;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new Refusal(
      `There is no queue ${JSON.stringify(name)}: one exists while it has jobs, is paused, or has limits or defaults. list_queues shows those there are.`,
    );
  }
}
