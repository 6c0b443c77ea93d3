/** Provides the code for structs when it is imported. */
import { code } from "./code.ts";
import { provideStructs } from "./registry.ts";

provideStructs(code);
