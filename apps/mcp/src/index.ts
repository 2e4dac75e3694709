export { answerMessage, type Message, type MessageAnswer } from "./serve/http.ts";
export { serveOverStdio } from "./serve/stdio.ts";
export type { Reach, ServerOptions } from "./server/build.ts";
export type { Report } from "./server/call-tool.ts";
