import type { Redis } from "ioredis";
import type { RedisLink } from "./link.ts";
import { noticeChannel } from "../keys.ts";
import { memoryNotices, type Notices, type Topic } from "../signal.ts";

/** Ids in one message; the listener splits it in one go. */
const message_ids_max = 1_000;

/**
 * Notices through Redis' publish and subscribe: a message names the ids, separated by commas. Listening opens a
 * separate connection, as a subscribed one takes no other commands; it subscribes again whenever it reconnects, and every
 * few seconds. In a cluster a message reaches all servers, and so listeners on any of them.
 */
export function redisNotices({ commands, open, keys, available }: RedisLink): Notices {
  const { tell, listen } = memoryNotices();
  const channels = new Map<string, Topic>();
  let subscriber: Redis | undefined;
  // At each beat too, as Redis may have refused it: it is busy with a script, or this user may not listen there yet.
  const subscribe = () => {
    if (subscriber?.status === "ready") void subscriber.subscribe(...channels.keys()).catch(() => {});
  };
  const openSubscriber = () => {
    const { redis } = open("subscriber", keys.jobs, subscribe);
    redis.on("ready", subscribe);
    redis.on("message", (channel: string, message: string) => {
      const topic = channels.get(channel);
      if (topic) void tell(topic, message.split(",", message_ids_max));
    });
    return redis;
  };
  return {
    async tell(topic, ids) {
      for (let at = 0; at < ids.length; at += message_ids_max) {
        const message = ids.slice(at, at + message_ids_max).join(",");
        const channel = noticeChannel(keys, topic);
        await available(channel, () => commands.publish(channel, message));
      }
    },
    listen(topic, hear) {
      const channel = noticeChannel(keys, topic);
      if (!channels.has(channel)) {
        channels.set(channel, topic);
        if (subscriber) subscribe();
        else subscriber = openSubscriber();
      }
      return listen(topic, hear);
    },
  };
}
