import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { createGathered, type Gathered } from "./gathered.ts";

/** Once so much waits to be read, no more is taken from the connection. */
const waiting_bytes_max = 65_536;

/**
 * A request whose body is put together while nobody reads it: because its turn has not come, because it must not be
 * read, or because it is read slowly. Node keeps each piece as it came, and 64 KiB in pieces of a byte take 26 MB.
 *
 * @example
 * const server = createServer({ IncomingMessage: MergingMessage }, listener);
 */
export class MergingMessage extends IncomingMessage {
  #waiting: Gathered | undefined;
  #wanted = false;
  #all_here = false;

  constructor(socket: Socket) {
    super(socket);
    // Or Node would ask for pieces before anybody reads them, and keep up to 64 KiB as they came.
    const { _readableState } = this as unknown as { _readableState: { highWaterMark: number } };
    _readableState.highWaterMark = 1;
  }

  /** What Node's parser calls with each piece, and with null at the end. False when it should wait. */
  override push(piece: Uint8Array | null): boolean {
    if (piece === null) this.#all_here = true;
    else (this.#waiting ??= createGathered()).add(piece);
    if (this.#wanted || this.#bytes === 0) this.#handOver();
    return this.#bytes < waiting_bytes_max;
  }

  override _read(size: number): void {
    this.#wanted = true;
    this.#handOver();
    super._read(size);
  }

  get #bytes(): number {
    return this.#waiting?.bytes() ?? 0;
  }

  #handOver(): void {
    if (this.#bytes > 0) {
      this.#wanted = false;
      super.push(this.#waiting?.take());
    }
    if (this.#all_here) super.push(null);
  }
}
