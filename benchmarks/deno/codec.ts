import { heddleCodec } from "../contenders/heddle-codec.ts";
import { jsonCodec } from "../contenders/json-codec.ts";
import { msgpackrCodec } from "../contenders/msgpackr-codec.ts";
import { structuredCloneCodec } from "../contenders/structured-clone-codec.ts";
import { v8Codec } from "../contenders/v8-codec.ts";
import { runCodec } from "../scenarios/codec.ts";

await runCodec([heddleCodec, jsonCodec, v8Codec, msgpackrCodec, structuredCloneCodec]);
