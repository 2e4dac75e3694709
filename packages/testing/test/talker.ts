// Prints something in each way a program can, then does what its first argument says.
console.log("starting");
console.log(JSON.stringify({ level: 30, msg: "ready", greeting: process.env.GREETING }));
console.log("{not json");
console.error("a warning");
if (process.argv[2] === "exit") process.exitCode = 4;
else setInterval(() => {}, 60_000);
if (process.argv[2] === "drain") process.once("SIGTERM", () => process.exit(0));
