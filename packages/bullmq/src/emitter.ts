import { EventEmitter } from "node:events";
import { NotSupportedError } from "./options/refused.ts";

/** An emitter that refuses listeners to events it never emits. A listener that throws is an "error". */
export abstract class Emitter extends EventEmitter {
  constructor(of: string, events: readonly string[]) {
    super();
    const known = [...events, "error", "newListener", "removeListener"];
    this.on("newListener", (event) => {
      if (!known.includes(String(event)))
        throw new NotSupportedError(`The event "${String(event)}" of a ${of}`, "Use logs, metrics or GET /v1/events.");
    });
  }

  override emit(event: string, ...args: unknown[]): boolean {
    try {
      return super.emit(event, ...args);
    } catch (error) {
      if (event === "newListener") throw error;
      this.report(error);
      return false;
    }
  }

  /** As in BullMQ, an error without a listener must not end the process. */
  protected report(error: unknown): void {
    if (this.listenerCount("error") > 0) super.emit("error", error);
    // oxlint-disable-next-line eslint/no-console -- trouble must not stay silent
    else console.error(error);
  }
}
