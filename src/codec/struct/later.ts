/** Code for structs that a program needs when a value is declared. In the package it is a file that is loaded then (scripts/modules.ts). */
import { StructCodec } from "./struct-codec.ts";

export const structCodec = (): typeof StructCodec => StructCodec;
