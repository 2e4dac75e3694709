/** Under this token of the caller's own jobs were leased before, or it was taken back: nothing was leased now. */
export class LeaseTokenTakenError extends Error {
  override readonly name = "LeaseTokenTakenError";
}

/** True when PostgreSQL refused a claim as a whole, as its token has a row already. */
export function isTokenTaken(error: unknown): boolean {
  const { code, constraint_name } = (error ?? {}) as { code?: unknown; constraint_name?: unknown };
  return code === "23505" && constraint_name === "claims_pkey";
}
