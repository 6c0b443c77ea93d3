/** What is read for the first pool of Node whose workers have fewer rights. */
export { confine, refusePermission } from "./permission.ts";
