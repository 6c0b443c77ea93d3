/** Options and exports are documented where an editor shows it, and `docs/options.md` says the same. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import {
  listedOptions,
  type Option,
  readOptions,
  withOptions,
} from "../../scripts/docs-options.ts";

const root = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(root, "docs", "options.md"), "utf8");
const options = readOptions();
const listed = listedOptions(page);

/** The public symbols of each entry point. */
const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as {
  exports: Record<string, string>;
};
const entries = Object.values(exports).map((file) => join(root, file));
const config = ts.getParsedCommandLineOfConfigFile(join(root, "tsconfig.json"), {}, {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: () => {},
})!;
const program = ts.createProgram(entries, config.options);
const checker = program.getTypeChecker();
const publicSymbols = new Map<string, ts.Symbol>();
for (const entry of entries) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
  for (const symbol of checker.getExportsOfModule(module)) {
    publicSymbols.set(
      symbol.name,
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    );
  }
}

const isDocumented = (node: ts.Node): boolean =>
  ts.getJSDocCommentsAndTags(node).some((doc) => ts.isJSDoc(doc) && doc.comment !== undefined);

/** Names of the public members of an export that have no doc comment. */
function undocumented(name: string, symbol: ts.Symbol): string[] {
  const declarations = symbol.declarations ?? [];
  const own =
    declarations.some((node) =>
        isDocumented(ts.isVariableDeclaration(node) ? node.parent.parent : node)
      )
      ? []
      : [name];
  const members = declarations.flatMap((node) =>
    ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) ? [...node.members] : []
  );
  const silent = members.filter((member) =>
    !isDocumented(member) && !(ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) &&
    member.name !== undefined && !ts.isPrivateIdentifier(member.name)
  );
  return [...own, ...silent.map((member) => `${name}.${member.name!.getText()}`)];
}

test("every export and each of its members has a doc comment", () => {
  expect([...publicSymbols].length).toBeGreaterThan(100);
  expect([...publicSymbols].flatMap(([name, symbol]) => undocumented(name, symbol))).toEqual([]);
});

describe("docs/options.md", () => {
  test("says what the doc comments say (node scripts/docs-options.ts)", () => {
    expect(page).toBe(withOptions(page));
  });

  test("has every option of the public functions once", () => {
    const all = [...options].filter(([name]) =>
      name.endsWith("Options") && publicSymbols.has(name)
    );
    expect(all.length).toBeGreaterThan(10);
    for (const [type, members] of [...all, ...[...options].filter(([name]) => listed.has(name))]) {
      const names = listed.get(type)?.toSorted() ?? `${type} is not on the page`;
      expect(names).toEqual(members.map(({ name }) => name).toSorted());
    }
  });
});

describe.each([...listed.keys()])("%s", (type) => {
  const of = (check: (option: Option) => boolean): string[] =>
    options.get(type)!.filter((option) => !check(option)).map(({ name }) => name);

  test("each option names its default", () => {
    expect(of((option) => option.isRequired || option.default !== undefined)).toEqual([]);
  });

  test("each number names its unit", () => {
    expect(of(({ name, text }) => !name.endsWith("Ms") || text.includes("millisecond"))).toEqual(
      [],
    );
    expect(of(({ name, text }) => !name.endsWith("Bytes") || /bytes/i.test(text))).toEqual([]);
    expect(of(({ name, text }) => !name.endsWith("Mb") || text.includes("MiB"))).toEqual([]);
  });
});
