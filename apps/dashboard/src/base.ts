/**
 * Where the API is, with no slash at the end: this page may be below a path that only a proxy or another program knows. The
 * page's scripts are in one folder of it, as this file is while it is developed.
 */
export const base = new URL(import.meta.url).href.replace(/\/[^/]*\/[^/]*$/, "");
