/**
 * No control characters, no line or paragraph separators, and no marks that change the direction of what follows: a
 * name with them looks like another one, or moves the text next to it.
 */
export const plainText = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u;

/** For the descriptions of fields that take it. */
export const plainTextAccepts = "without control characters, line separators and marks of direction";
