/**
 * What workers do. They read the files, so only paths and problems travel. The task is declared, so that workers find it in a
 * bundle as well.
 */
import { task } from "heddle/task";
import { checkFile } from "./check-file.ts";

export const lintFile = task({ f: checkFile });
