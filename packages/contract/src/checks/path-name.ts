/**
 * A name that is a segment of a path as it stands. "." and ".." are none: every client makes another path of them, so
 * what has such a name could never be asked for.
 */
export const pathName = /^(?!\.\.?$)[A-Za-z0-9._:-]+$/;
export const pathNameAccepts = "out of A-Z a-z 0-9 . _ : -, but neither . nor ..";
