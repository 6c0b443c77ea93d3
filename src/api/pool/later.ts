/** What most pools never use. In the package it is a file that is loaded when it is used (scripts/modules.ts). */
import { parts } from "./rare-parts.ts";

export const rareParts = (): typeof parts => parts;
