// Carries what is sent to some ports of a network of its own to paths, which lead out of it.
import { connect, createServer } from "node:net";
import { join } from "node:path";

const [folder = "", ...ports] = process.argv.slice(2);
for (const port of ports)
  createServer((near) => {
    const far = connect(join(folder, port));
    near.pipe(far).pipe(near);
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
  }).listen(Number(port), "0.0.0.0");
process.stdout.write("ready\n");
