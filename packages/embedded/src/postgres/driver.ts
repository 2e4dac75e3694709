/** The driver with the patch of core; the build puts it into `dist`, as it does there. */
export { default } from "postgres";
