import type { JobDefinition, OutputOf, StandardSchema } from "@atlasqueue/contract";
import {
  defineHandler,
  type Handler as Defined,
  type HandlerFunction,
  type HandlerOptions,
  type JobContext,
} from "@atlasqueue/worker";

type Run = (payload: never, context: JobContext) => unknown;
type Decorator<Payload> = <Method extends (payload: Payload, context: JobContext) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

const defining = Symbol("atlasqueue handler");
type Marked = Run & { [defining]?: (run: Run) => Defined };

/**
 * The method handles jobs of a type: one made by `defineJob`, or a name and a payload schema. Its class must be a provider
 * or a controller, and not request-scoped.
 *
 * @example
 * \@Handler(sendEmail, { timeoutSeconds: 30 })
 * async send({ to }: { to: string }, { signal }: JobContext) {}
 */
export function Handler<Input, Output>(
  definition: JobDefinition<Input, Output>,
  options?: Omit<HandlerOptions, "isolate">,
): Decorator<Output>;
export function Handler<S extends StandardSchema>(
  type: string,
  schema: S,
  options?: Omit<HandlerOptions, "isolate">,
): Decorator<OutputOf<S>>;
export function Handler(
  first: string | JobDefinition,
  second?: StandardSchema | HandlerOptions,
  third?: HandlerOptions,
): Decorator<never> {
  const define = (run: Run) =>
    typeof first === "string"
      ? defineHandler(first, second as StandardSchema, run as HandlerFunction<unknown>, third)
      : defineHandler(first, run as HandlerFunction<unknown>, second as HandlerOptions);
  return (_target, _key, { value }) => {
    if (value) (value as unknown as Marked)[defining] = define;
  };
}

/** The handlers among an object's methods, those of its class and of the classes that it extends. */
export function handlersIn(instance: object): Defined[] {
  const found = new Map<string, Defined>();
  for (let at = Object.getPrototypeOf(instance) as object | null; at && at !== Object.prototype;) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      const define = typeof value === "function" ? (value as Marked)[defining] : undefined;
      if (define && !found.has(name))
        found.set(name, define(((instance as Record<string, Run>)[name] as Run).bind(instance)));
    }
    at = Object.getPrototypeOf(at) as object | null;
  }
  return [...found.values()];
}
