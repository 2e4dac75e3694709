/** Peers emit what goes wrong beside the calls: it must be seen, as a rate over errors means nothing. */
export function reportError(error: Error): void {
  process.stderr.write(`an error beside the measurement: ${error.message}\n`);
}
