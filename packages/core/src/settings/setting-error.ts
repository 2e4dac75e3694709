/** A setting that cannot be used. The message is one line: its name, its value, what it takes. */
export class SettingError extends Error {
  override readonly name = "SettingError";
}

/** Without its login and what is in its query; nothing of what may be a password pasted on its own. */
export function shownUrl(url: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return "something else (not shown)";
  return JSON.stringify(
    url
      .replace(/^([a-z][a-z0-9+.-]*:\/\/).*@/is, "$1[hidden]@")
      .replace(/#.*/s, "#[hidden]")
      .replace(/([?&;][^=&#]*=)[^&#]*/g, "$1[hidden]"),
  );
}
