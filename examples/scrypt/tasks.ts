import { scryptSync } from "node:crypto";

export const hash = (password: string): string => scryptSync(password, "salt", 32).toString("hex");
