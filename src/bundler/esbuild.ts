/**
 * The plugin for esbuild, which takes no further entries once a build has begun: each module of tasks is a build of its own, with the
 * same options. Its output is a file for esbuild's loader `file`, which writes it and gives its path from the file that names it.
 */
import { JSON, Map, Set } from "../builtins.ts";
import { InvalidArgumentError } from "../errors.ts";
import { baseOf, readText } from "../runtimes/node-api/bundling.ts";
import { notFound, replaceReferences } from "./references.ts";
import type { BuildPart, EsbuildPlugin, Loaded, PluginBuild } from "./types.ts";

/** A build, which may be that of a module of tasks. */
interface Part {
  /** The modules of tasks around it and its own, from the outermost. */
  readonly chain: readonly string[];
  /** The files that it has read, which a build that watches needs. */
  readonly read: Set<string>;
  /** Outputs of the modules of tasks that it names, by paths that end with their names. */
  readonly outputs: Map<string, Uint8Array>;
}

/** The name of the plugin, of its namespaces and of its queries: that of modules of tasks, and that of their outputs. */
const NAME = "heddle";
const OUTPUT = "heddle-output";
const ALL = /(?:)/;
/** Of a build that is a part of another. */
const OPTIONS = {
  stdin: undefined,
  outfile: undefined,
  outbase: undefined,
  splitting: false,
  write: false,
  logLevel: "silent",
};

/**
 * Builds the modules of tasks that a program names by `new URL("./tasks.ts?pool", import.meta.url)`.
 *
 * @example
 * ```ts
 * import { build } from "esbuild";
 * import { esbuildPlugin } from "heddle/bundler";
 *
 * await build({
 *   entryPoints: ["main.ts"],
 *   outdir: "dist",
 *   bundle: true,
 *   platform: "node",
 *   format: "esm",
 *   plugins: [esbuildPlugin()],
 * });
 * ```
 */
export function esbuildPlugin(): EsbuildPlugin {
  return pluginOf({ chain: [], read: new Set(), outputs: new Map() });
}

function pluginOf(part: Part): EsbuildPlugin {
  return {
    name: NAME,
    setup(build) {
      const { bundle, platform, format = platform === "node" ? "cjs" : "" } = build.initialOptions;
      const base = baseOf(format);
      if (bundle !== true) return; // Each module stays a file of its own.
      build.onLoad({ filter: ALL, namespace: "file" }, async ({ path }) => {
        part.read.add(path);
        const isScript = /\.[cm]?[jt]sx?$/.test(path);
        return isScript ? await rewrite(build, path, await readText(path), base) : undefined;
      });
      build.onResolve({ filter: /\?heddle(?:-output)?$/ }, ({ path }) => {
        const at = path.lastIndexOf("?");
        return { path: path.slice(0, at), namespace: path.slice(at + 1) };
      });
      build.onLoad({ filter: ALL, namespace: NAME }, ({ path }) => {
        if (part.chain.at(-1) === path) return { contents: `export default ${base}` };
        if (!part.chain.includes(path)) return buildTasks(build, path, part);
        const circle = [...part.chain, path].join(", ");
        throw new InvalidArgumentError(`Modules of tasks name each other in a circle: ${circle}.`);
      });
      build.onLoad({ filter: ALL, namespace: OUTPUT }, ({ path }) => (
        { contents: part.outputs.get(path)!, loader: "file" }
      ));
    },
  };
}

/** The source at `path` with an import for each reference, whose value is the path of an output. */
async function rewrite(
  build: PluginBuild,
  importer: string,
  code: string,
  base: string,
): Promise<Loaded | undefined> {
  const errors: object[] = [];
  const imports: string[] = [];
  const resolveDir = importer.replace(/[^\\/]+$/, "");
  const replaced = await replaceReferences(code, async (specifier, at) => {
    const found = await build.resolve(specifier, {
      importer,
      resolveDir,
      kind: "import-statement",
    });
    if (found.errors.length > 0 || found.external) {
      const detail = notFound(specifier, importer);
      const [line, column] = [code.slice(0, at).split("\n"), at - code.lastIndexOf("\n", at) - 1];
      const lineText = code.split("\n")[line.length - 1];
      const location = { file: importer, line: line.length, column, lineText };
      errors.push({ text: detail.message, detail, location });
    }
    const name = `heddleFile${imports.length}`;
    imports.push(`import ${name} from ${JSON.stringify(`${found.path}?${NAME}`)};`);
    return `new URL(${name}, ${base}).href`;
  });
  if (errors.length > 0) return { errors };
  // At the end, so that lines keep their numbers.
  const contents = `${replaced}\n${imports.join(" ")}`;
  return replaced === undefined ? undefined : { contents, loader: "default" };
}

/** Builds the module of tasks at `path`, which `outer` names. The result exports the path of the output. */
async function buildTasks(
  { esbuild, initialOptions }: PluginBuild,
  path: string,
  outer: Part,
): Promise<Loaded> {
  const part: Part = { chain: [...outer.chain, path], read: new Set(), outputs: new Map() };
  const { outdir, outfile, sourcemap, plugins = [], outExtension } = initialOptions;
  const { assetNames = "[name]-[hash]" } = initialOptions;
  const { errors, warnings, outputFiles } = await esbuild.build({
    ...initialOptions,
    ...OPTIONS,
    entryPoints: [path],
    // Where the outer build writes it, so that its paths are right; `.heddle` tells it from files that it names.
    entryNames: `${assetNames}.heddle`,
    outdir: outdir ?? outfile?.replace(/[^\\/]+$/, "."),
    sourcemap: sourcemap && sourcemap !== "external" ? "inline" : false,
    plugins: [pluginOf(part), ...plugins.filter(({ name }) => name !== NAME)],
  }).catch((failure) => failure as BuildPart);
  const watchFiles = [...part.read];
  const extension = outExtension?.[".js"] ?? ".js";
  const file = outputFiles?.find(({ path }) => path.endsWith(`.heddle${extension}`));
  if (file === undefined) return { errors, warnings, watchFiles };
  // Below the path of the source, because tasks.js and tasks.ts may be two modules.
  const output = `${path}/${/([^\\/]+)\.\w+$/.exec(path)![1]}${extension}`;
  for (const [name, contents] of part.outputs) outer.outputs.set(name, contents);
  outer.outputs.set(output, file.contents);
  // All of them are used, because esbuild leaves out the others.
  const names = [output, ...part.outputs.keys()];
  const imports = names.map((name, i) =>
    `import f${i} from ${JSON.stringify(`${name}?${OUTPUT}`)};`
  );
  const contents = `${imports.join(" ")} export default [${names.map((_, i) => `f${i}`)}][0];`;
  return { contents, warnings, watchFiles };
}
