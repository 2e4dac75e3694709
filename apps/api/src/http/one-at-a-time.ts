import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createShares } from "@atlasqueue/contract";
import { bringsBody } from "./body/body.ts";
import { network } from "./input/address.ts";

/** More than clients send without waiting for an answer. */
const waiting_max = 32;
/** In line on all connections together, roughly: 400 connections with 32 usual requests each. */
const in_line_bytes_max = 67_108_864;
/** What Node keeps for a request, and for a line of its headers, whose text it has twice. */
const request_bytes = 3_000;
const line_bytes = 100;
/** Once so much has come behind a request that waits, no more is read until it begins. */
const waiting_bytes_max = 65_536;

/** `read_bytes`: what its connection had brought when it got in line. */
type Waiting = { start: () => void; incoming: IncomingMessage; read_bytes: number; bytes: number; holder: string };
type Begin = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Begin the requests of a connection one after another: each once the one before has been answered, and its answer is on its
 * way; after an answer that ends the connection none. Node hands over all that it finds in what it has read, which is
 * hundreds of short ones, and their answers would wait in memory for a client that reads none. A client that has more than
 * 32 of them waiting is disconnected, and of one that sends much no more is read meanwhile. What is in line on all
 * connections has a bound as well, in shares of the networks it comes from: there may be 20,000.
 *
 * @example
 * const server = createServer(oneAtATime((incoming, outgoing) => outgoing.end()));
 */
export function oneAtATime(begin: Begin, bytes_max = in_line_bytes_max): Begin {
  const lines = new WeakMap<Socket, Waiting[]>();
  const watched = new WeakSet<Socket>();
  const room = createShares(bytes_max);
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
    socket.once("close", () => drop(socket));
  };
  const drop = (socket: Socket): void => {
    for (const { incoming, holder, bytes } of lines.get(socket) ?? []) {
      room.give(holder, bytes);
      incoming.resume();
    }
    lines.delete(socket);
  };
  return (incoming, outgoing) => {
    const { socket } = incoming;
    if (isOver(socket)) return void incoming.resume();
    const start = () => {
      outgoing.once("close", () => {
        if (isOver(socket)) return drop(socket);
        const next = lines.get(socket)?.shift();
        if (!next) return void lines.delete(socket);
        room.give(next.holder, next.bytes);
        socket.resume();
        next.start();
      });
      begin(incoming, outgoing);
    };
    const line = lines.get(socket);
    if (line === undefined) {
      lines.set(socket, []);
      return start();
    }
    const holder = network(socket.remoteAddress ?? "unknown");
    const bytes = bytesOf(incoming);
    const is_let_in = line.length < waiting_max && room.take(holder, bytes) === "taken";
    if (!is_let_in) return void socket.destroy();
    watch(socket);
    line.push({ start, incoming, read_bytes: socket.bytesRead, bytes, holder });
    holdBack(socket);
  };
}

/** Its last answer has been sent: what still comes is discarded, as it would never be answered. */
const isOver = (socket: Socket): boolean => socket.destroyed || socket.writableEnded;

/** What it takes while it waits, roughly, and with a body what of that may be read. */
function bytesOf({ rawHeaders, headers }: IncomingMessage): number {
  const text_bytes = rawHeaders.reduce((sum, text) => sum + text.length, 0);
  const head_bytes = request_bytes + (rawHeaders.length / 2) * line_bytes + text_bytes;
  return bringsBody(headers) ? head_bytes + waiting_bytes_max : head_bytes;
}
