/** A setting that cannot be used. The message is one line: its name, its value, what it takes. */
export class SettingError extends Error {
  override readonly name = "SettingError";
}
