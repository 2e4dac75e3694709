/** What one look found. `wrong` is for a person to mend, `skipped` what could not be looked at. */
export type Check = { name: string; state: "ok" | "wrong" | "skipped"; detail: string };

export const ok = (name: string, detail: string): Check => ({ name, state: "ok", detail });
export const wrong = (name: string, detail: string): Check => ({ name, state: "wrong", detail });
export const skipped = (name: string, detail: string): Check => ({ name, state: "skipped", detail });
