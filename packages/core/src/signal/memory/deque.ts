/** What it holds is handed out from the front. */
export type Deque = {
  push(id: string): void;
  unshift(id: string): void;
  shift(): string | undefined;
  first(): string | undefined;
  length(): number;
  /** Drops what is in front of the first of these ids, if one is among the next `far`, and gives it. */
  skipTo(ids: ReadonlySet<string>, far: number): string | undefined;
};

/**
 * Two stacks, so that a backlog of a million ids is not moved at every shift.
 *
 * @example
 * const deque = createDeque();
 * deque.push("a");
 */
export function createDeque(): Deque {
  let front: string[] = [];
  let back: string[] = [];
  const turnOver = () => {
    if (front.length === 0) [front, back] = [back.reverse(), []];
  };
  return {
    push: (id) => void back.push(id),
    unshift: (id) => void front.push(id),
    shift() {
      turnOver();
      return front.pop();
    },
    first() {
      turnOver();
      return front.at(-1);
    },
    length: () => front.length + back.length,
    skipTo(ids, far) {
      for (let place = 0; place < far; place += 1) {
        const id = front.at(-1 - place) ?? back[place - front.length];
        if (id === undefined) return undefined;
        if (!ids.has(id)) continue;
        for (let dropped = 0; dropped < place; dropped += 1) this.shift();
        return id;
      }
      return undefined;
    },
  };
}
