/** Languages other than JavaScript: whether their toolchain is installed, how a file is built and run. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("./", import.meta.url));
const buildFolder = `${folder}build/`;

export interface Language {
  readonly name: string;
  /** The folder of its programs. */
  readonly folder: string;
  readonly extension: string;
  /** Prints the version. */
  readonly probe: readonly [string, ...string[]];
  /** Builds `source` into `output`; without it, the source is run. */
  readonly build?: (source: string, output: string) => readonly string[];
}

const C: Language = {
  name: "C",
  folder: "c",
  extension: "c",
  probe: ["gcc", "--version"],
  build: (source, output) => ["gcc", "-std=c17", "-O2", "-o", output, source, "-lm"],
};

export const LANGUAGES: readonly Language[] = [
  C,
  {
    name: "Rust",
    folder: "rust",
    extension: "rs",
    probe: ["rustc", "--version"],
    build: (source, output) => ["rustc", "-O", "--edition", "2024", "-o", output, source],
  },
  {
    name: "Go",
    folder: "go",
    extension: "go",
    probe: ["go", "version"],
    build: (source, output) => ["go", "build", "-o", output, source],
  },
  { name: "Python", folder: "python", extension: "py", probe: ["python3", "--version"] },
];

export function languageOf(name: string): Language {
  const language = LANGUAGES.find((each) => each.name === name);
  if (language === undefined) throw new Error(`No language "${name}".`);
  return language;
}

/** The Go toolchain neither fetches another version of itself nor modules. */
const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off" };

/** The first line that the toolchain says about its version; undefined where it is not installed. */
export function versionOf({ probe: [file, ...args] }: Language): string | undefined {
  const { status, stdout } = spawnSync(file, args, { encoding: "utf8", env });
  return status === 0 ? stdout.split("\n")[0]!.trim() : undefined;
}

/** Versions by language, of those that are installed. */
export function languageVersions(): Record<string, string> {
  const versions: Record<string, string> = {};
  for (const language of LANGUAGES) {
    const version = versionOf(language);
    if (version !== undefined) versions[language.name] = version;
  }
  return versions;
}

/** Why a language is left out; undefined where its toolchain is installed. */
export const whyMissing = (language: Language): string | undefined =>
  versionOf(language) === undefined ? `${language.probe[0]} is not installed` : undefined;

export const sourceOf = (language: Language, program: string): string =>
  `${folder}${language.folder}/${program}.${language.extension}`;

/** Builds a file unless the last build is newer. Other processes see the old build or the new one. */
export function buildFile(
  language: Language,
  source: string,
  name: string,
): string {
  const output = `${buildFolder}${name}`;
  if (existsSync(output) && statSync(output).mtimeMs > statSync(source).mtimeMs) return output;
  mkdirSync(buildFolder, { recursive: true });
  const fresh = `${output}.${process.pid}`;
  const [file = "", ...args] = language.build!(source, fresh);
  try {
    execFileSync(file, args, { stdio: ["ignore", "ignore", "inherit"], env });
    renameSync(fresh, output);
  } finally {
    rmSync(fresh, { force: true });
  }
  return output;
}

let python: string | undefined;

/** The interpreter itself: what is on the path may be a script that looks for it. */
const findPython = (): string =>
  python ??= execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
    encoding: "utf8",
  }).trim();

/** The command that runs a program of a language, which is built first if needed. */
export function commandOf(language: Language, program: string): readonly string[] {
  const source = sourceOf(language, program);
  return language.build === undefined
    ? [findPython(), source]
    : [buildFile(language, source, `${language.folder}-${program}`)];
}

/** The program that measures others. */
export function measuringProgram(): string {
  const missing = whyMissing(C);
  if (missing !== undefined) {
    throw new Error(`${missing}, and benchmarks/programs/measure.c needs it`);
  }
  return buildFile(C, `${folder}measure.c`, "measure");
}
