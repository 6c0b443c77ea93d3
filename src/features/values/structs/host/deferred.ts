/** What is read for the first task of a thread that declares shapes or schemas. */
export { readStruct } from "../declared.ts";
export { describeSignature, signatureOf } from "../schema/signature.ts";
export { checkValidation, hostCheck, validated } from "../validation.ts";
