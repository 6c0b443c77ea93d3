/** What is read for the first task of a worker that declares shapes. */
export { readStruct } from "../declared.ts";
export { describeSignature, signatureOf } from "../schema/signature.ts";
