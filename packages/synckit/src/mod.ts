/** synckit on heddle: functions of workers that block their callers. */
export {
  compareNodeVersion,
  compareVersion,
  hasFlag,
  NODE_VERSION,
  parseVersion,
} from "./common.ts";
export {
  DEFAULT_EXEC_ARGV,
  DEFAULT_GLOBAL_SHIMS,
  DEFAULT_GLOBAL_SHIMS_PRESET,
  DEFAULT_TIMEOUT,
  DEFAULT_TS_RUNNER,
  DEFAULT_TYPES_NODE_VERSION,
  EXPERIMENTAL_LOADER_FLAG,
  FEATURE_TYPESCRIPT_NODE_VERSION,
  IMPORT_FLAG,
  IMPORT_FLAG_SUPPORTED,
  LOADER_FLAG,
  LOADER_FLAGS,
  MODULE_REGISTER_SUPPORTED,
  MTS_SUPPORTED,
  NO_STRIP_TYPES,
  NO_STRIP_TYPES_FLAG,
  NODE_OPTIONS,
  REQUIRE_ABBR_FLAG,
  REQUIRE_FLAG,
  REQUIRE_FLAGS,
  STRIP_TYPES_FLAG,
  STRIP_TYPES_NODE_VERSION,
  TRANSFORM_TYPES_FLAG,
  TRANSFORM_TYPES_NODE_VERSION,
  TS_ESM_PARTIAL_SUPPORTED,
  TsRunner,
} from "./constants.ts";
export { _generateGlobals, encodeImportModule, generateGlobals } from "./global-shims.ts";
export {
  dataUrl,
  extractProperties,
  hasImportFlag,
  hasLoaderFlag,
  hasRequireFlag,
  isFile,
  md5Hash,
  overrideStdio,
} from "./helpers.ts";
export { createSyncFn, runAsWorker, startWorkerThread } from "./sync-fn.ts";
export { setupTsRunner, type WorkerScript } from "./ts-runner.ts";
export type {
  AnyFn,
  GlobalShim,
  PackageJson,
  StdioChunk,
  Syncify,
  SynckitOptions,
  ValueOf,
} from "./types.ts";
