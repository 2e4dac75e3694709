/** Throw it in a processor to fail the job without further attempts. */
export class UnrecoverableError extends Error {
  override readonly name = "UnrecoverableError";
}

/** Throw it after `job.moveToDelayed()`. The attempt has ended by then, so it is only for code that does so. */
export class DelayedError extends Error {
  override readonly name = "DelayedError";
}
