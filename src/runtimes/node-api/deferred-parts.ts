/**
 * Reads parts of heddle that most programs never use, each from a file, when it is first needed. Only built files have such parts
 * (`scripts/deferred.ts`); in the sources they are ordinary imports.
 */
import { Map, RangeError } from "../../builtins.ts";
import { InstallationError } from "../../installation-error.ts";
import { process } from "./process/process.ts";

type Exports = Readonly<Record<string, unknown>>;
type LoadPart = (name: string) => Exports;
/** A part as a function of what the file that reads it exports to it. */
type MakePart = (carried: Exports, loadPart: LoadPart) => Exports;

/** A part by the number of its build. Undefined: it is of another one. */
function partIn(file: unknown, build: string): MakePart | undefined {
  return Object.hasOwn(file as object, build)
    ? (file as Readonly<Record<string, MakePart>>)[build]
    : undefined;
}

/** What a file of CommonJS exports. In a realm of its own (`node:vm`, of which test runners make one for each file) it is evaluated there. */
function requireFile(url: string, path: string): unknown {
  const require = process.getBuiltinModule("node:module").createRequire(url);
  if (require as unknown instanceof Function) return require(path);
  const text = process.getBuiltinModule("node:fs").readFileSync(require.resolve(path), "utf8");
  const exports = {};
  new Function("exports", text)(exports);
  return exports;
}

/**
 * Returns what reads a part, once. `url`: the file that reads, undefined in a bundle for CommonJS; `folder`: of the parts beside it.
 * `inBundle`: what requires each part in a program that a bundler has made of that file, parts included; nothing defines `require`
 * in a module elsewhere. It also has an `import()` of each, which never runs: by that, tools that collect the files of a program
 * (`@vercel/nft`) find them. Throws InstallationError; later calls try again.
 */
export function createLoader(
  url: string | undefined,
  folder: string,
  build: string,
  inBundle: Readonly<Record<string, (isTraced?: boolean) => unknown>>,
  carried: () => Exports,
): LoadPart {
  const loaded = new Map<string, Exports>();

  function read(name: string): MakePart {
    try {
      const part = partIn(inBundle[name]!(), build);
      if (part !== undefined) return part;
    } catch (error) {
      if (error instanceof RangeError) throw error; // the end of the stack
    }
    const file = `${folder}/${name}.cjs`;
    let part: MakePart | undefined;
    try {
      part = partIn(requireFile(url!, `./${file}`), build);
    } catch (error) {
      if (error instanceof RangeError) throw error;
      throw new InstallationError(`heddle cannot read its file ${file}.`, { cause: error });
    }
    if (part !== undefined) return part;
    throw new InstallationError(
      `heddle was replaced while this program ran: ${file} belongs to another build. Start the program again.`,
    );
  }

  return function loadPart(name) {
    let part = loaded.get(name);
    if (part === undefined) loaded.set(name, part = read(name)(carried(), loadPart));
    return part;
  };
}
