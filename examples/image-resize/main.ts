/** Makes smaller images, in pure JavaScript. */
import { createPool, transfer } from "heddle";
import { Buffer } from "node:buffer";
import { PNG } from "pngjs";

/** Red grows to the right and green downwards. */
function gradient(size: number): Uint8Array<ArrayBuffer> {
  const image = new PNG({ width: size, height: size });
  for (let at = 0; at < size * size; at++) {
    image.data.set([at % size, Math.floor(at / size), 128, 255], at * 4);
  }
  return new Uint8Array(PNG.sync.write(image));
}

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);
const images = [256, 128, 64].map(gradient);
const smaller = await Promise.all(images.map((image) => pool.call.halve(transfer(image))));
console.log(images.map(({ length }) => length)); // they have moved to the workers
for (const bytes of smaller) {
  const { width, height, data } = PNG.sync.read(Buffer.from(bytes));
  console.log(`${width} x ${height}`, [...data.subarray(4, 8)].join());
}
await pool.shutdown();
