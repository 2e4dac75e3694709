/**
 * No control characters, no line or paragraph separators, and none of those that turn the direction of what follows:
 * a name with them shows as another one, or moves what is written beside it.
 */
export const plainText = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u;

/** For the descriptions of what takes it. */
export const plainTextAccepts = "without control characters, line separators and marks of direction";
