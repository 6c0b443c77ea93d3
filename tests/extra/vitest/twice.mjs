import { task } from "heddle/task";

export const twice = task({ f: (n) => n * 2 });
