/** So long a submitter waits for an answer before it asks again, in ms; what it asked first may still be under way. */
export const answer_ms_max = 5_000;
