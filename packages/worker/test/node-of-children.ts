import { onTestFinished } from "vitest";

/** Until what it returns is called, or the test ends, workers start their children from this program. */
export function withNode(program: string): () => void {
  const { execPath } = process;
  const mend = () => void (process.execPath = execPath);
  process.execPath = program;
  onTestFinished(mend);
  return mend;
}

/** Workers that start until what it returns is called have this flag of Node, and so have their children. */
export function withNodeFlags(flag: string): () => void {
  const { execArgv } = process;
  const mend = () => void (process.execArgv = execArgv);
  process.execArgv = [...execArgv, flag];
  onTestFinished(mend);
  return mend;
}
