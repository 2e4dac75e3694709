/** Peers emit some errors outside their calls: they must be seen, as a rate with errors means nothing. */
export function reportError(error: Error): void {
  process.stderr.write(`an error beside the measurement: ${error.message}\n`);
}
