// Loaded before each program that the rig starts. SIGUSR2 makes it read an order from the file FAULTS_ORDERS names:
// set the clock off by so much, or stand still. It ends with the rig, whatever became of that.
import { readFileSync } from "node:fs";

type Order = { clock_ms?: number; block_ms?: number };

let off_ms = 0;
const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  apply: () => new Date().toString(),
  construct: (target, args: unknown[], as) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + off_ms] : args, as === Date ? target : as) as Date,
  get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
});
const now = () => RealDate.now() + off_ms;

const { FAULTS_ORDERS: file } = process.env;
process.on("SIGUSR2", () => {
  if (file === undefined) return;
  const { clock_ms, block_ms } = JSON.parse(readFileSync(file, "utf8")) as Order;
  if (clock_ms !== undefined) off_ms = clock_ms;
  if (block_ms !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, block_ms);
});

const rig = process.ppid;
setInterval(() => process.ppid === rig || process.exit(1), 1_000).unref();
