/**
 * Reads parts of heddle that most programs never use, each from a file, when it is first needed. Only built files have such parts
 * (`scripts/deferred.ts`); in the sources they are ordinary imports.
 */
import { RangeError } from "../../builtins.ts";
import { InstallationError } from "../../installation-error.ts";
import { process } from "./process.ts";

type Exports = Readonly<Record<string, unknown>>;
/** A part as a function of what the file that reads it exports to it, by the number of the build. */
type PartFile = Readonly<Record<string, (carried: Exports, loadPart: LoadPart) => Exports>>;
type LoadPart = (name: string) => Exports;

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
  const loaded: Record<string, Exports> = {};

  function read(name: string): PartFile {
    let failure: unknown;
    try {
      const { createRequire } = process.getBuiltinModule("node:module");
      return createRequire(url!)(`./${folder}/${name}.cjs`) as PartFile;
    } catch (error) {
      failure = error;
    }
    try {
      return inBundle[name]!() as PartFile;
    } catch {
      if (failure instanceof RangeError) throw failure; // the end of the stack
      throw new InstallationError(`heddle cannot read its file ${folder}/${name}.cjs.`, {
        cause: failure,
      });
    }
  }

  return function loadPart(name) {
    const known = loaded[name];
    if (known !== undefined) return known;
    const make = read(name)[build];
    if (make === undefined) {
      throw new InstallationError(
        `heddle was replaced while this program ran: ${folder}/${name}.cjs belongs to another build. Start the program again.`,
      );
    }
    return loaded[name] = make(carried(), loadPart);
  };
}
