import type { Invariant } from "../invariant.ts";

export const bounded: Invariant = {
  name: "bounded",
  sentence: "Lists, memory and connections stay below their bounds",
  *find({ samples }) {
    const worst = new Map<string, (typeof samples)[number]>();
    for (const sample of samples) {
      if (sample.bound === undefined || sample.value <= sample.bound) continue;
      const name = `${sample.of} of ${sample.name}`;
      if (sample.value > (worst.get(name)?.value ?? -Infinity)) worst.set(name, sample);
    }
    for (const [name, { value, bound }] of worst) yield { evidence: `${name} was ${value}, above ${bound}` };
  },
};
