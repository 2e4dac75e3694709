/** Each has the program itself as its argument. */
const evaluating = new Set(["-e", "--eval", "-p", "--print", "-pe"]);
/** Of the program given with those, or of a debugger that waits at the worker's own port. */
const own = /^--(?:eval|print|input-type|inspect(?:-.+)?|debug-port)(?:=|$)/;
/** Their value may be an argument of its own. */
const valued = new Set(["--input-type", "--inspect-port", "--debug-port", "--inspect-publish-uid"]);

/**
 * The flags of Node that a worker's children get too: all of its own, but for the program that was given as one, which
 * each child would start again in place of ours, and for the debugger's.
 *
 * @example
 * childFlags(["--enable-source-maps", "-e", "startWorker()"]); // ["--enable-source-maps"]
 */
export function childFlags(execArgv: readonly string[]): string[] {
  return execArgv.filter((flag, at) => {
    const before = execArgv[at - 1] ?? "";
    const isValue = evaluating.has(before) || (valued.has(before) && !flag.startsWith("-"));
    return !isValue && !evaluating.has(flag) && !own.test(flag);
  });
}
