import type { Redis } from "ioredis";

type Words = (string | number)[];

/** A connection with the scripts as commands. */
export type ScriptedRedis = Redis & {
  signalPush(list: string, priorities: string, overflow: string, ...words: Words): Promise<number>;
  signalPushFront(list: string, priorities: string, overflow: string, ...words: Words): Promise<number>;
  signalSetMarked(list: string, priorities: string, overflow: string, marked: 0 | 1): Promise<number>;
  signalTake(list: string, priorities: string, ids_max: number): Promise<string[]>;
  deadLettersAdd(list: string, members: string, ...ids: Words): Promise<number>;
  deadLettersLook(list: string, ...keys: string[]): Promise<[length: number, known: number, cursor: string | null]>;
  deadLettersCarryOn(list: string, members: string, cursor: string, ...words: Words): Promise<number>;
  deadLettersRemoveFrom(list: string, members: string, ...words: Words): Promise<[removed: number, looked_at: number]>;
  deadLettersRemove(list: string, members: string, ...ids: Words): Promise<number>;
  permitsDraw(bucket: string, limit: number, period_us: number, ...costs: number[]): Promise<number[]>;
  workersAnnounce(workers: string, ...words: Words): Promise<number>;
  workersList(workers: string, silent_ms: number): Promise<string[]>;
  signalNonce(nonce: string, lasts_ms: number, ...nonces: Words): Promise<number>;
  signalTurn(turn: string, period_ms: number): Promise<number>;
};
