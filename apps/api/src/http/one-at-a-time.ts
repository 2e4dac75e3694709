import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** More than clients send without waiting for an answer. Each takes 3 KB, and there may be 20,000 connections. */
const waiting_max = 32;
/** Once so much has come behind a request that waits, no more is read until it begins. */
const waiting_bytes_max = 65_536;

/** `read_bytes`: what its connection had brought when it got in line. */
type Waiting = { start: () => void; read_bytes: number };
type Begin = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Begin the requests of a connection one after another: each once the one before has been answered, and its answer is on its
 * way. Node hands over all that it finds in what it has read, which is hundreds of short ones, and their answers would wait
 * in memory for a client that reads none. A client that has more than 32 of them waiting is disconnected, and of one that
 * sends much no more is read meanwhile.
 *
 * @example
 * const server = createServer(oneAtATime((incoming, outgoing) => outgoing.end()));
 */
export function oneAtATime(begin: Begin): Begin {
  const lines = new WeakMap<Socket, Waiting[]>();
  const watched = new WeakSet<Socket>();
  const holdBack = (socket: Socket): void => {
    const [first] = lines.get(socket) ?? [];
    if (!first || socket.bytesRead - first.read_bytes <= waiting_bytes_max) return;
    // Between a resume and its event the socket may count as paused already, and would tell Node nothing.
    if (socket.isPaused()) socket.emit("pause");
    else socket.pause();
  };
  /** Node goes on reading after each message. */
  const watch = (socket: Socket): void => {
    if (watched.has(socket)) return;
    watched.add(socket);
    socket.on("resume", () => holdBack(socket));
  };
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const start = () => {
      outgoing.once("close", () => {
        const next = socket.destroyed ? undefined : lines.get(socket)?.shift();
        if (!next) return void lines.delete(socket);
        socket.resume();
        next.start();
      });
      begin(incoming, outgoing);
    };
    const line = lines.get(socket);
    if (line === undefined) {
      lines.set(socket, []);
      start();
    } else if (line.length < waiting_max) {
      watch(socket);
      line.push({ start, read_bytes: socket.bytesRead });
      holdBack(socket);
    } else socket.destroy();
  };
}
