/**
 * Makes files that are read when they are first needed, of what most programs never use. In the sources such a part is an ordinary
 * import of a file with a fixed name, under a fixed name:
 *
 * ```ts
 * import * as deferred from "./host/deferred.ts";
 * ```
 *
 * Bundles, pages and JSR keep it as it is. In the files that runtimes load, `deferred.name` becomes a call that reads the part, the first
 * time. A part is CommonJS, which every runtime loads at once, whatever it allows of modules; and it imports nothing: it is a
 * function of what the file that reads it has, so both have the same classes and tables.
 */
import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import type { Plugin } from "rolldown";
import { shrink } from "./shrink.ts";

const source: string = fileURLToPath(new URL("../src/", import.meta.url));
const LOADER = "\0heddle:deferred";
const IMPORT = /^import \* as deferred from "([^"]+\/deferred\.ts)";$/m;
const EXPORTS = /\bexport\s*\{([^}]*)\};\s*$/;
/** At the beginning of a module, as rolldown and the minifier write it. */
const FIRST_IMPORT = /^\s*import\s*(?:\{([^}]*)\}\s*from\s*)?"([^"]+)";/;
const PART_FILE = /^\.{1,2}\/(?:[\w-]+\/)?([\w-]+)\.js$/;
/** What the text of the loader has in the place of what is known once all files are made. */
const BUILD = "__HEDDLE_BUILD__";
const PARTS = "__HEDDLE_PARTS__";
const CARRIED = "__HEDDLE_CARRIED__";

/** The part whose file this is: `map` of `src/features/calls/map/host/deferred.ts`. */
export function partOf(id: string): string | undefined {
  return /\/(\w[\w-]*)\/(?:(?:host|worker)\/)?deferred\.ts$/.exec(id)?.[1];
}

/** Reads parts from files in this folder beside the file that runs: those for whose path `isDeferred` says so. */
export function deferring(
  folder: string,
  isDeferred: (path: string) => boolean = () => true,
): Plugin {
  return {
    name: "deferring",
    resolveId: (id) => id === LOADER.slice(1) ? LOADER : null,
    load: (id) =>
      id === LOADER
        ? `import { createLoader } from ${
          JSON.stringify(`${source}runtimes/node-api/deferred-parts.ts`)
        };
export const loadPart = /* @__PURE__ */ createLoader(import.meta.url, "${folder}", "${BUILD}", { ${PARTS}: 0 }, () => ${CARRIED});`
        : null,
    transform: (code, id) => {
      const [statement, path] = IMPORT.exec(code) ?? [];
      if (path === undefined) return null;
      const part = resolve(dirname(id), path);
      if (!isDeferred(part)) return null;
      const name = partOf(part);
      if (name === undefined) throw new Error(`${id} defers ${path}, which is no part.`);
      return code.replace(
        statement!,
        `import { loadPart } from "${LOADER.slice(1)}";
let part: any; const deferred = (): any => part ??= loadPart("${name}");`,
      ).replaceAll(/\bnew deferred\.(\w+)/g, "new (deferred().$1)")
        .replaceAll(/\bdeferred\./g, "deferred().");
    },
  };
}

/** `a as b, c` as pattern or object: `a: b, c`. */
const asProperties = (list: string): string => list.replaceAll(/([\w$]+) as ([\w$]+)/g, "$1: $2");
const asObject = (list: string): string => list.replaceAll(/([\w$]+) as ([\w$]+)/g, "$2: $1");

/** Replaces the imports at the beginning of a module. `replace` returns undefined for those that stay. */
function withImports(
  code: string,
  replace: (list: string | undefined, from: string) => string | undefined,
): string {
  const [statement, list, from] = FIRST_IMPORT.exec(code) ?? [];
  if (statement === undefined) return code;
  const rest = withImports(code.slice(statement.length), replace);
  return `${replace(list, from!) ?? statement}${rest}`;
}

/**
 * Makes CommonJS of the parts among `files`, which are in `folder`, and completes the loader in `main`, whose text has `carried`: the
 * expression of what it exports to its parts, by the names under which they import it. `shares`: the file of which other modules
 * import `loadPart`.
 */
export async function finishParts(
  files: Map<string, string>,
  { folder, main, carried, shares }: {
    readonly folder: string;
    readonly main: string;
    readonly carried: string;
    readonly shares: string;
  },
): Promise<void> {
  const build = createHash("sha256").update([...files.values()].join("\n")).digest("hex")
    .slice(0, 16);
  const isPart = (name: string): boolean => name.startsWith(`${folder}/`);
  for (const [name, code] of files) {
    if (isPart(name)) continue;
    const up = name.includes("/") ? "../" : "./";
    files.set(
      name,
      withImports(code, (list, from) => {
        const [, part] = PART_FILE.exec(from) ?? [];
        if (part === undefined || !from.includes(`${folder}/`)) return undefined;
        const load = `loadPart$${part.replaceAll("-", "_")}`;
        return list === undefined ? "" : `import { loadPart as ${load} } from "${up}${shares}";
const { ${asProperties(list)} } = ${load}("${part}");
`;
      }),
    );
  }
  const parts = [...files].filter(([name]) => isPart(name));
  for (const [name, code] of parts) {
    files.delete(name);
    files.set(name.replace(/js$/, "cjs"), makePart(name, await shrink(name, code), build, folder));
  }
  const inBundle = parts.map(([name]) => {
    const [, part] = PART_FILE.exec(`./${name}`)!;
    const file = `"./${name.replace(/js$/, "cjs")}"`;
    return `"${part}": (isTraced) => isTraced ? import(${file}) : require(${file})`;
  });
  files.set(
    main,
    files.get(main)!.replace(BUILD, build).replace(`${PARTS}: 0`, inBundle.join(", "))
      .replace(CARRIED, () => carried),
  );
}

/** A part of the shrunk text of a module, so that its names are those of the sources in stacks. */
function makePart(name: string, code: string, build: string, folder: string): string {
  const body = withImports(code, (list, from) => {
    if (list === undefined) return "";
    if (from.startsWith("../") && !from.includes(`${folder}/`)) {
      return `const{${asProperties(list)}}=$carried;`;
    }
    const [, part] = PART_FILE.exec(from) ?? [];
    return part && `const{${asProperties(list)}}=$loadPart("${part}");`;
  });
  const [, exported] = EXPORTS.exec(body) ?? [];
  // Other imports are errors in a script.
  if (exported === undefined || /\bimport\s*\(/.test(body)) {
    throw new Error(`${name} cannot be made CommonJS.`);
  }
  const text = `exports["${build}"]=(($carried,$loadPart)=>{"use strict";${
    body.replace(EXPORTS, () => `return{${asObject(exported)}}`)
  }});
`;
  new Script(text); // throws what is wrong with it
  return text;
}
