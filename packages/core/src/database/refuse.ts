const message = "keys were taken meanwhile, and nothing was stored";

/**
 * A column that aborts its statement, and all that it did, when the condition holds: outside functions, SQL has no
 * other way than a value that cannot be cast. The server's log shows the sentence.
 */
export const refuseIf = (condition: string) =>
  `(CASE WHEN ${condition} THEN '${message}: ' || now() ELSE '0' END)::int AS refused`;

/**
 * True for the error of `refuseIf`, and when another job got a unique key meanwhile: look again at what the keys name, and
 * try again.
 */
export function isTakenMeanwhile(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message.includes(message) || Reflect.get(error, "constraint_name") === "jobs_unique_key";
}
