/** What is read for the first module that is named by its package. */
export { findPackageModule } from "./find-module.ts";
