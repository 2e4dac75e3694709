/** The page's own files and nothing else: no script, picture or frame from elsewhere or in the page itself. */
export const policyOf = (styles: string, ...more: string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    ...more,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** What every file of the page and of the guide is served with. */
export const guards = {
  "content-security-policy": policyOf("'self'", "font-src 'self'"),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
};
