/** Throw it in a processor to fail the job without further attempts. */
export class UnrecoverableError extends Error {
  override readonly name = "UnrecoverableError";
}

/** Throw it after `job.moveToDelayed()`. The attempt has ended by then, so it is only for code that does so. */
export class DelayedError extends Error {
  override readonly name = "DelayedError";
}

/** BullMQ has this, and AtlasQueue does not, or does it in another way. The message names both. */
export class NotSupportedError extends Error {
  override readonly name = "NotSupportedError";
  constructor(feature: string, instead: string) {
    super(`${feature} is not supported by @atlasqueue/bullmq. ${instead}`);
  }
}

/** Features by their names, and what to use instead. */
export type Refused = Record<string, string>;

/** Throws for an option that has an effect in BullMQ and none here. */
export function checkOptions(given: object, of: string, taken: readonly string[], refused: Refused): void {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && value !== false && !taken.includes(name))
      throw new NotSupportedError(`The option \`${name}\` of ${of}`, refused[name] ?? "Leave it out.");
}

/** Gives a class the methods that BullMQ has and AtlasQueue has not. They throw. */
export function refuseMethods({ name, prototype }: { name: string; prototype: object }, refused: Refused): void {
  for (const [method, instead] of Object.entries(refused))
    Object.defineProperty(prototype, method, {
      value: () => {
        throw new NotSupportedError(`${name}.${method}()`, instead);
      },
    });
}
