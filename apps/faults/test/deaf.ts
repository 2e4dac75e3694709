// A program that does not end when it is told to.
process.on("SIGTERM", () => {});
process.stdout.write("ready\n");
setInterval(() => {}, 60_000);
