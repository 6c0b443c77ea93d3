import { echo } from "./tasks.ts";

addEventListener(
  "message",
  ({ data: [id, value] }: MessageEvent<[number, unknown]>) => postMessage([id, echo(value)]),
);
