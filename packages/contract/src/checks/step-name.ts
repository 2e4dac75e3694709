import { limits } from "./limits.ts";
import { plainText, plainTextAccepts } from "./plain-text.ts";

/** What the name of a step, or of a signal, must be. In a path, dots alone would mean another path. */
export const stepNameAccepts = `a string of 1 to ${limits.step_name_chars_max} characters ${plainTextAccepts}, other than . and ..`;

/** Without zod, which a page in a browser need not load for this. */
export const isStepName = (name: unknown): name is string =>
  typeof name === "string" &&
  name.length >= 1 &&
  name.length <= limits.step_name_chars_max &&
  plainText.test(name) &&
  !/^\.\.?$/.test(name);
