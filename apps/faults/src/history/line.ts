import { z } from "zod";
import { moves, type Kind, type Move, type Moves } from "./moves.ts";

/** What every line has. `at_ns` is CLOCK_MONOTONIC, which all processes of the machine share whatever their Date says. */
type Head<M extends Move, K extends Kind> = {
  at_ns: number;
  process: string;
  /** Of this process: what `ok`, `fail` and `info` have in common with their `invoke`. */
  op: number;
  is: K;
  move: M;
};

/** One line, by its move and kind: `LineOf<"submit", "ok">`. */
export type LineOf<M extends Move, K extends Kind> = {
  [N in M]: { [L in K]: Head<N, L> & z.infer<Moves[N][L]> }[K];
}[M];
export type Line = { [M in Move]: { [K in Kind]: LineOf<M, K> }[Kind] }[Move];

const head = z.object({
  at_ns: z.number().nonnegative(),
  process: z.string().min(1),
  op: z.number().int().nonnegative(),
  is: z.enum(["invoke", "ok", "fail", "info"]),
  move: z.enum(Object.keys(moves) as [Move, ...Move[]]),
});

/** Throws an Error that names the line when it is none. */
export function parseLine(text: string): Line {
  try {
    const json: unknown = JSON.parse(text);
    const { is, move } = head.parse(json);
    return head.extend(moves[move][is].shape).parse(json) as Line;
  } catch (error) {
    throw new Error(`not a line of a history: ${text.slice(0, 200)}`, { cause: error });
  }
}
