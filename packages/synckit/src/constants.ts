/** Constants of synckit, and the defaults that the environment sets. */
import { compareNodeVersion, hasFlag } from "./common.ts";
import type { GlobalShim, ValueOf } from "./types.ts";

export { NODE_OPTIONS } from "./common.ts";

/** What can load TypeScript in a worker. */
export const TsRunner = {
  Node: "node",
  Bun: "bun",
  TsNode: "ts-node",
  EsbuildRegister: "esbuild-register",
  EsbuildRunner: "esbuild-runner",
  OXC: "oxc",
  SWC: "swc",
  TSX: "tsx",
} as const;

export type TsRunner = ValueOf<typeof TsRunner>;

/** Of versions of Node that heddle does not run on. */
export const TS_ESM_PARTIAL_SUPPORTED: boolean = false;
export const MTS_SUPPORTED: boolean = true;
export const MODULE_REGISTER_SUPPORTED: boolean = true;
export const IMPORT_FLAG_SUPPORTED: boolean = true;

export const STRIP_TYPES_NODE_VERSION = "22.6";
export const TRANSFORM_TYPES_NODE_VERSION = "22.7";
export const FEATURE_TYPESCRIPT_NODE_VERSION = "22.10";
export const DEFAULT_TYPES_NODE_VERSION = "23.6";

export const STRIP_TYPES_FLAG = "--experimental-strip-types";
export const TRANSFORM_TYPES_FLAG = "--experimental-transform-types";
export const NO_STRIP_TYPES_FLAG = "--no-experimental-strip-types";
export const IMPORT_FLAG = "--import";
export const REQUIRE_FLAG = "--require";
export const REQUIRE_ABBR_FLAG = "-r";
export const REQUIRE_FLAGS: Set<string> = new Set([REQUIRE_FLAG, REQUIRE_ABBR_FLAG]);
export const LOADER_FLAG = "--loader";
export const EXPERIMENTAL_LOADER_FLAG = "--experimental-loader";
export const LOADER_FLAGS: Set<string> = new Set([LOADER_FLAG, EXPERIMENTAL_LOADER_FLAG]);

/** Whether this process was told not to load TypeScript. */
export const NO_STRIP_TYPES: boolean = hasFlag(NO_STRIP_TYPES_FLAG) &&
  (process.features as { readonly typescript?: unknown }).typescript === false;

/** Whether this Node loads TypeScript without a flag. */
export const stripsTypes: boolean = compareNodeVersion(DEFAULT_TYPES_NODE_VERSION) >= 0;

const { SYNCKIT_EXEC_ARGV = "", SYNCKIT_GLOBAL_SHIMS = "", SYNCKIT_TIMEOUT, SYNCKIT_TS_RUNNER } =
  process.env;

export const DEFAULT_TIMEOUT: number | undefined = SYNCKIT_TIMEOUT ? +SYNCKIT_TIMEOUT : undefined;
export const DEFAULT_EXEC_ARGV: string[] = SYNCKIT_EXEC_ARGV.split(",");
export const DEFAULT_TS_RUNNER: TsRunner | undefined = SYNCKIT_TS_RUNNER as TsRunner | undefined;
export const DEFAULT_GLOBAL_SHIMS: boolean = ["1", "true"].includes(SYNCKIT_GLOBAL_SHIMS);
export const DEFAULT_GLOBAL_SHIMS_PRESET: GlobalShim[] = [
  { moduleName: "node-fetch-native", globalName: "fetch", named: "fetch" },
  { moduleName: "node:perf_hooks", globalName: "performance", named: "performance" },
];
