/** What one check found. `wrong` is for a person to fix, `skipped` could not be checked. */
export type Check = { name: string; state: "ok" | "wrong" | "skipped"; detail: string };

export const ok = (name: string, detail: string): Check => ({ name, state: "ok", detail });
export const wrong = (name: string, detail: string): Check => ({ name, state: "wrong", detail });
export const skipped = (name: string, detail: string): Check => ({ name, state: "skipped", detail });
