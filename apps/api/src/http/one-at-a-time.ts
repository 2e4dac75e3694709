import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createShares } from "@atlasqueue/contract";
import { bringsBody } from "./body/body.ts";
import { createDiscarded } from "./body/discarded.ts";
import { network } from "./input/address.ts";
import { whenClosed } from "./when-closed.ts";
import { refuse } from "./wire-faults.ts";
import { withinHeap } from "@atlasqueue/core/internal";

/** More than clients send without waiting for an answer. */
const waiting_max = 32;
/** Of the heap, for requests on all connections together, without the bodies of those that have begun: see `bytesOf`. */
const heap_part = 8;
/** What Node keeps for a request, and for a line of its headers, whose text it has twice. */
const request_bytes = 3_000;
const line_bytes = 100;
/** Once so much has come behind a request that waits, no more is read until it begins. */
const waiting_bytes_max = 65_536;

type Begin = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
/** `bytes`: what is held of the room. */
type Begun = { incoming: IncomingMessage; outgoing: ServerResponse; bytes: number };
/** `read_bytes`: what its connection had brought when it got in line. */
type Waiting = Begun & { read_bytes: number };
/**
 * `waiting`: behind the one that has begun, if there is one. `bodies_bytes`: what is held of the room for what may be read
 * of the bodies of all of them.
 */
type Connection = { holder: string; waiting: Waiting[]; bodies_bytes: number; begun: boolean };

/**
 * Begin the requests of a connection one after another: each once the one before has been answered, and its answer is on its
 * way; after an answer that ends the connection none. Node hands over all that it finds in what it has read, which is
 * hundreds of short ones, and their answers would wait in memory for a client that reads none. A client that has more than
 * 32 of them waiting is disconnected, and of one that sends much no more is read meanwhile.
 *
 * What requests take on all connections together has a bound, in shares of the networks they come from, from their arrival
 * until both the answer is sent and the request has come whole: there may be 20,000, each with 16 KiB of headers. One
 * that finds no room is refused, and in line its connection ends.
 *
 * @example
 * const server = createServer(oneAtATime((incoming, outgoing) => outgoing.end()));
 */
export function oneAtATime(begin: Begin, bytes_max = withinHeap(Infinity, { part: heap_part })): Begin {
  const connections = new WeakMap<Socket, Connection>();
  const room = createShares(bytes_max);

  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known) return known;
    const own = { holder: network(socket.remoteAddress ?? "unknown"), waiting: [], bodies_bytes: 0, begun: false };
    connections.set(socket, own);
    // Node goes on reading after each message.
    socket.on("resume", () => holdBack(socket, own));
    socket.once("close", () => drop(own));
    return own;
  };
  const holdBack = (socket: Socket, { waiting: [first] }: Connection): void => {
    if (!first || socket.bytesRead - first.read_bytes <= waiting_bytes_max) return;
    // Between a resume and its event the socket may count as paused already, and would tell Node nothing.
    if (socket.isPaused()) socket.emit("pause");
    else socket.pause();
  };
  const drop = (own: Connection): void => {
    for (const { incoming, bytes } of own.waiting.splice(0)) {
      room.give(own.holder, bytes);
      incoming.resume();
    }
    noneWaits(own);
  };
  const noneWaits = (own: Connection): void => {
    room.give(own.holder, own.bodies_bytes);
    own.bodies_bytes = 0;
  };
  const start = ({ incoming, outgoing, bytes }: Begun, own: Connection, beginOrRefuse = begin): void => {
    const { socket } = incoming;
    own.begun = true;
    outgoing.once("close", () => {
      whenWhole(incoming, () => room.give(own.holder, bytes));
      own.begun = false;
      if (isOver(socket)) return drop(own);
      const next = own.waiting.shift();
      if (!next) return;
      if (own.waiting.length === 0) noneWaits(own);
      socket.resume();
      start(next, own);
    });
    beginOrRefuse(incoming, outgoing);
  };

  return (incoming, outgoing) => {
    const { socket } = incoming;
    if (isOver(socket)) return void incoming.resume();
    const own = connectionOf(socket);
    const { holder, waiting } = own;
    const bytes = bytesOf(incoming);
    if (!own.begun) {
      const is_taken = room.take(holder, bytes) === "taken";
      return is_taken
        ? start({ incoming, outgoing, bytes }, own)
        : start({ incoming, outgoing, bytes: 0 }, own, noRoom);
    }
    // No more than that is read behind the first, however many bring a body.
    const bodies_bytes = own.bodies_bytes === 0 && bringsBody(incoming.headers) ? waiting_bytes_max : 0;
    const is_let_in = waiting.length < waiting_max && room.take(holder, bytes + bodies_bytes) === "taken";
    if (!is_let_in) return void socket.destroy();
    own.bodies_bytes += bodies_bytes;
    waiting.push({ incoming, outgoing, bytes, read_bytes: socket.bytesRead });
    holdBack(socket, own);
  };
}

const noRoom: Begin = (incoming, outgoing) =>
  refuse(incoming, outgoing, "no_room", "There is no room for more requests");

const discarded = createDiscarded();

/** Also once its connection has ended, for which we see to it: Node tells a request that was answered no more of that. */
function whenWhole(incoming: IncomingMessage, then: () => void): void {
  const { socket } = incoming;
  if (incoming.complete || socket.destroyed) return then();
  discarded.begin(socket);
  whenClosed([incoming, socket], () => {
    discarded.over(socket);
    then();
  });
}

/** Its last answer has been sent: what still comes is discarded, as it would never be answered. */
const isOver = (socket: Socket): boolean => socket.destroyed || socket.writableEnded;

/** What a request takes, roughly, without its body. */
function bytesOf({ rawHeaders }: IncomingMessage): number {
  let bytes = request_bytes + (rawHeaders.length / 2) * line_bytes;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}
