import typescript from "typescript";

export const answer = (n) => n + Number(typescript.version !== "");
