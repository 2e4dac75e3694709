/**
 * Questions sent over a channel, each with an id that its answer bears. One that is not answered in time gets undefined.
 *
 * @example
 * const text = await questions.ask((id) => member.send({ fleet: "ask", id }));
 */
export function createQuestions<Answer>(answer_ms_max: number) {
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let asked = 0;
  return {
    ask: (send: (id: number) => void) =>
      new Promise<Answer | undefined>((resolve) => {
        const id = (asked += 1);
        const late = setTimeout(() => waiting.get(id)?.(undefined), answer_ms_max);
        waiting.set(id, (answer) => {
          clearTimeout(late);
          waiting.delete(id);
          resolve(answer);
        });
        send(id);
      }),
    hear: (id: number, answer: Answer) => waiting.get(id)?.(answer),
  };
}
