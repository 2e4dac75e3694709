/** What it holds is handed out from the front. */
export type Deque = {
  push(id: string): void;
  unshift(id: string): void;
  shift(): string | undefined;
  first(): string | undefined;
  length(): number;
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
  };
}
