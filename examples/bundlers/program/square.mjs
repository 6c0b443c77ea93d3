import { task } from "heddle/task";

export const square = task({ f: (x) => x * x });
