import { heddleCodec } from "../contenders/heddle-codec.ts";
import { jsonCodec } from "../contenders/json-codec.ts";
import { lacking } from "../contenders/lacking.ts";
import { msgpackrCodec } from "../contenders/msgpackr-codec.ts";
import { structuredCloneCodec } from "../contenders/structured-clone-codec.ts";
import { v8Codec } from "../contenders/v8-codec.ts";
import { runCodec } from "../scenarios/codec.ts";

const LACKS = { "Error with cause": "drops the cause on Bun" };

await runCodec([
  heddleCodec,
  jsonCodec,
  lacking(v8Codec, LACKS),
  msgpackrCodec,
  lacking(structuredCloneCodec, LACKS),
]);
