/** heddle's `struct()`: a layout declared beforehand; values of `payloads/objects.ts`, `particle`. */
import { createPool, f64, struct, task } from "../../dist/mod.js";
import type { Echo, EchoCalls } from "./echo-contender.ts";
import { echoThrough } from "./heddle-pool.ts";

const Particle = struct({
  x: f64,
  y: f64,
  z: f64,
  velocityX: f64,
  velocityY: f64,
  velocityZ: f64,
  mass: f64,
  charge: f64,
});

export const echoParticle = task({ args: [Particle], returns: Particle, f: (value) => value });

export function startStructEcho(): Promise<EchoCalls> {
  const pool = createPool({ threads: 1 })({ echoParticle });
  return echoThrough(pool, pool.call.echoParticle as unknown as Echo);
}
