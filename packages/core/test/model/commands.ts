import * as fc from "fast-check";
import { acts, weightOf } from "./acts/table.ts";
import { compare } from "./compare.ts";
import type { Real } from "./real.ts";
import type { Model } from "./state.ts";

/** The name of an act and its choices, as a failed run prints it and `examples.ts` keeps it. */
export type Written = readonly [name: string, choices: readonly number[]];
export type Command = fc.AsyncCommand<Model, Real>;

/** One act, and then both sides must be the same. */
export function commandOf([name, choices]: Written): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      const act = acts[name];
      if (!act) throw new Error(`no act ${name}`);
      let at = 0;
      await act(model, real, (below) => (choices[at++ % choices.length] ?? 0) % below);
      await compare(model, real);
    },
    toString: () => JSON.stringify([name, choices]),
  };
}

const choices = fc.array(fc.nat(59), { minLength: 8, maxLength: 24, size: "max" });

/** Any commands, in any order. */
export const anyCommands = (commands_max: number) =>
  fc.commands(
    [
      fc
        .oneof(...Object.keys(acts).map((name) => ({ weight: weightOf(name), arbitrary: fc.constant(name) })))
        .chain((name) => choices.map((chosen) => commandOf([name, chosen]))),
    ],
    { maxCommands: commands_max, size: "max" },
  );
