import { connect } from "node:net";

const answer_ms_max = 500;

/** Whether a Redis answers on 127.0.0.1:port within 500 ms. One that wants a password first counts as present. */
export function redisAnswers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const done = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(answer_ms_max, () => done(false));
    socket.once("error", () => done(false));
    socket.once("close", () => done(false));
    socket.once("data", (reply) => done(/^(\+PONG|-NOAUTH)/.test(reply.toString())));
    socket.write("PING\r\n");
  });
}
