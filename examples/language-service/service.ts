/** Lives in a worker: TypeScript, the files of a program, and what is known of them. */
import ts from "typescript";

const OPTIONS: ts.CompilerOptions = { strict: true, noLib: true, types: [], noEmit: true };
/** What every program needs. The library of TypeScript takes a second to check. */
const GLOBALS = `
  interface Array<T> { [index: number]: T; length: number }
  interface Boolean {} interface Function {} interface IArguments {} interface Number {}
  interface CallableFunction {} interface NewableFunction {}
  interface Object {} interface RegExp {} interface String { readonly length: number }
`;

interface File {
  readonly text: string;
  readonly version: number;
}

export class Service {
  readonly #files = new Map<string, File>([["globals.d.ts", { text: GLOBALS, version: 0 }]]);
  readonly #service: ts.LanguageService;

  constructor() {
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => OPTIONS,
      getScriptFileNames: () => [...this.#files.keys()],
      getScriptVersion: (name) => String(this.#files.get(name)?.version),
      getScriptSnapshot: (name) => {
        const file = this.#files.get(name);
        return file && ts.ScriptSnapshot.fromString(file.text);
      },
      getCurrentDirectory: () => "",
      getDefaultLibFileName: () => "globals.d.ts",
      fileExists: (name) => this.#files.has(name),
      readFile: (name) => this.#files.get(name)?.text,
    });
  }

  update(name: string, text: string): void {
    this.#files.set(name, { text, version: (this.#files.get(name)?.version ?? 0) + 1 });
  }

  /** The errors of a file. */
  check(name: string): string[] {
    return this.#service.getSemanticDiagnostics(name).map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, "\n")
    );
  }

  /** What is at the first occurrence of `text`. */
  typeAt(name: string, text: string): string {
    const at = this.#files.get(name)!.text.indexOf(text);
    const parts = this.#service.getQuickInfoAtPosition(name, at)?.displayParts;
    return ts.displayPartsToString(parts);
  }

  [Symbol.dispose](): void {
    this.#service.dispose();
  }
}
