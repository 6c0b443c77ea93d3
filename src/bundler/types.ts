/** The plugins as bundlers see them, and what they use of the bundlers, none of which is a dependency of heddle. */

type Name = "platform" | "format" | "outfile" | "outdir" | "assetNames";
type Filter = { readonly filter: RegExp; readonly namespace?: string };
type Maybe<Value> = Value | undefined | Promise<Value | undefined>;
type ResolveOptions = { importer: string; resolveDir: string; kind: "import-statement" };

/** The result of a callback of esbuild. */
export interface Loaded {
  readonly contents?: string | Uint8Array;
  readonly loader?: "default" | "file" | "js";
  readonly errors?: object[];
  readonly warnings?: object[];
  readonly watchFiles?: string[];
}

/** What a build of esbuild gives, or throws. */
export interface BuildPart {
  readonly errors: object[];
  readonly warnings: object[];
  readonly outputFiles?: { readonly path: string; readonly contents: Uint8Array }[] | undefined;
}

/** What the plugin uses of esbuild. */
export interface PluginBuild {
  readonly initialOptions: { readonly [_ in Name]?: string | undefined } & {
    readonly bundle?: boolean | undefined;
    readonly outExtension?: Readonly<Record<string, string>> | undefined;
    readonly sourcemap?: boolean | string | undefined;
    readonly plugins?: { readonly name: string }[] | undefined;
  };
  // deno-lint-ignore no-explicit-any -- its options are those above, and more
  readonly esbuild: { build(options: any): Promise<BuildPart> };
  resolve(
    path: string,
    options: ResolveOptions,
  ): Promise<{ path: string; external: boolean; errors: object[] }>;
  onResolve(
    of: Filter,
    callback: (of: { path: string }) => { path: string; namespace: string },
  ): void;
  onLoad(of: Filter, callback: (of: { path: string }) => Maybe<Loaded>): void;
}

/** A plugin of esbuild. */
export interface EsbuildPlugin {
  /** "heddle". */
  readonly name: string;
  /** Called by esbuild. */
  setup(build: PluginBuild): void;
}

type Found = { readonly id: string; readonly external: boolean | string } | null;
type FileUrl = { format: string; relativePath: string; referenceId: string | null };

/** What the plugin uses of Rollup, Rolldown or Vite. */
interface PluginContext {
  resolve(specifier: string, importer: string): Promise<Found>;
  emitFile(file: { type: "chunk"; id: string; preserveSignature: "strict" }): string;
  error(error: Error, at: number): never;
}

/** A plugin of Rollup, Rolldown or Vite. */
export interface RollupPlugin {
  /** "heddle". */
  readonly name: string;
  /** For Vite, whose server runs the sources, where the URLs are right. */
  readonly apply: "build";
  /** Called by the bundler: emits the modules of tasks that a source names. */
  transform(
    this: PluginContext,
    code: string,
    id: string,
    options?: { readonly ssr?: boolean | undefined },
  ): Promise<{ code: string; map: null } | undefined>;
  /** Called by the bundler: the URL of an emitted module. */
  readonly resolveFileUrl: { readonly order: "pre"; handler(file: FileUrl): string | null };
}
