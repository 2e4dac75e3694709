/** An AbortController made when somebody asks for its signal: most handlers never do, and making one costs a microsecond. */
export type LazyAbort = { readonly signal: AbortSignal; abort(reason: Error): void };

export function lazyAbort(): LazyAbort {
  let controller: AbortController | undefined;
  let aborted: Error | undefined;
  return {
    get signal() {
      if (!controller) {
        controller = new AbortController();
        if (aborted) controller.abort(aborted);
      }
      return controller.signal;
    },
    abort(reason) {
      aborted ??= reason;
      controller?.abort(reason);
    },
  };
}
