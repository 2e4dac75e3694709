/**
 * An abort whose AbortController is only made when its signal is asked for: it is costly, and most handlers never ask.
 */
export type LazyAbort = { controller: AbortController | undefined; reason: Error | undefined };

export function lazyAbort(): LazyAbort {
  return { controller: undefined, reason: undefined };
}

export function signalOf(lazy: LazyAbort): AbortSignal {
  if (!lazy.controller) {
    lazy.controller = new AbortController();
    if (lazy.reason) lazy.controller.abort(lazy.reason);
  }
  return lazy.controller.signal;
}

export function abort(lazy: LazyAbort, reason: Error): void {
  lazy.reason ??= reason;
  lazy.controller?.abort(reason);
}
