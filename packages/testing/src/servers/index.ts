// What also works outside a test: nothing here asks the test runner for anything.
export { commandFile } from "./command-file.ts";
export { between, chance, oneOf, shuffled } from "../chance.ts";
export { createDatabase } from "./create-database.ts";
export { eventually } from "../eventually.ts";
export { startPair, type Pair, type PairOptions } from "./pair.ts";
export { tcpProxy, type TcpProxy } from "../tcp-proxy.ts";
