/**
 * Makes private members of classes plain properties, and sets fields in the constructor, in the files that runtimes load. For fields
 * that a class declares, engines make one function more, which runs before the constructor: a fifth of all functions of a start.
 * Only in the folders of the kernel, whose objects programs do not get: others keep their members private.
 *
 * A declared field is defined, and these are assigned, which meets setters and read-only properties of the prototypes. So the
 * prototypes of these classes inherit nothing.
 */
import { parseAst } from "rolldown/parseAst";

/** Sources whose classes are changed. */
const KERNEL =
  /\/src\/(?:codec|host|lane|memory|metering|ring|sync|worker|api\/(?:calls|tasks|pool\/pool-core))\b/;
/** A class at the top of a module, as rolldown writes it. */
const CLASS = /^(?:(?:var|let|const) ([\w$]+) = )?class(?: ([\w$]+))?/gm;

/** The names of the classes of the kernel in a file, by the modules that it is made of. */
export function kernelClasses(
  modules: Readonly<Record<string, { readonly code: string | null }>>,
): Set<string> {
  const classes = new Set<string>();
  for (const [path, { code }] of Object.entries(modules)) {
    if (!KERNEL.test(path)) continue;
    for (const [, variable, own] of (code ?? "").matchAll(CLASS)) classes.add((variable ?? own)!);
  }
  return classes;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

/** A method, an accessor, a field or a static block of a class. */
interface Member extends Node {
  readonly key: Node & { readonly name: string };
  readonly value: (Node & { readonly body: Node; readonly params: readonly Node[] }) | null;
  readonly kind?: string;
  readonly static?: boolean;
}

type Names = ReadonlyMap<string, string>;

const isNode = (value: unknown): value is Node =>
  typeof (value as Node | null)?.type === "string" && typeof (value as Node).start === "number";

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}

/** The names of variables in a node. Those of properties count only where they are computed. */
function namesIn(node: Node, names: Set<string> = new Set()): Set<string> {
  if (node.type === "Identifier") names.add(node["name"] as string);
  for (const child of childrenOf(node)) {
    const isName = node["computed"] === false &&
      (child === node["property"] || (child === node["key"] && node["shorthand"] !== true));
    if (!isName) namesIn(child, names);
  }
  return names;
}

/** The names that the text of a function declares. */
function declaredIn(node: Node, names: Set<string>): Set<string> {
  const declared = node.type === "VariableDeclarator" || node.type === "FunctionDeclaration"
    ? node["id"]
    : node.type === "CatchClause"
    ? node["param"]
    : null;
  if (isNode(declared)) namesIn(declared, names);
  for (const child of childrenOf(node)) declaredIn(child, names);
  return names;
}

const nameOf = ({ type, name }: Node): string =>
  type === "PrivateIdentifier" ? `#${name}` : `${name}`;

/** The members that a constructor sets in any case: `this.a = 1;`. */
function setIn(body: Node | undefined): Set<string> {
  const set = new Set<string>();
  for (const { expression } of (body?.["body"] ?? []) as readonly { expression?: Node }[]) {
    const left = expression?.type === "AssignmentExpression" && expression["operator"] === "="
      ? expression["left"] as Node
      : undefined;
    if (left?.type !== "MemberExpression" || left["computed"] === true) continue;
    if ((left["object"] as Node).type === "ThisExpression") {
      set.add(nameOf(left["property"] as Node));
    }
  }
  return set;
}

/** The classes that a statement declares, by their names. */
function classesIn(
  statement: Node,
): readonly { readonly owner: Node; readonly name: string }[] {
  const declaration = (statement["declaration"] ?? statement) as Node;
  const declared = declaration.type === "VariableDeclaration"
    ? (declaration["declarations"] as readonly Node[]).map(({ id, init }) => [id, init])
    : [[declaration["id"], declaration]];
  type Declared = readonly (readonly [Node & { readonly name: string }, Node | null])[];
  return (declared as unknown as Declared)
    .filter(([, owner]) => owner?.type === "ClassDeclaration" || owner?.type === "ClassExpression")
    .map(([{ name }, owner]) => ({ owner: owner!, name }));
}

/** Short names for the private members of a class: `_0`, `_1`. None if it keeps them. */
function plainNames(members: readonly Member[], isChanged: boolean): Names {
  const own = new Set(
    members.filter(({ key }) => key?.type === "PrivateIdentifier").map(({ key }) => key.name),
  );
  return new Map([...own].map((name, index) => [name, isChanged ? `_${index}` : `#${name}`]));
}

/** Puts a class on its own. No source declares this name at its top. */
const ALONE = "alone";
const HELPER = `function ${ALONE}({ prototype }) { Object.setPrototypeOf(prototype, null); }\n`;
/** At the beginning of a module, as rolldown writes them: `deferred.ts` replaces them. */
const IMPORTS = /^(?:import [^;]*;\n)*/;

/** Throws for what these classes could not do any more. */
function checkMembers(members: readonly Member[], code: string): void {
  for (const { key, start, end, ...member } of members) {
    const isField = member.type === "PropertyDefinition" && member["static"] !== true;
    const isTaken = key?.type === "Identifier" && /^_\d/.test(key.name);
    if (isTaken || (isField && member["computed"] === true)) {
      throw new Error(`A class of the kernel cannot have this member: ${code.slice(start, end)}`);
    }
  }
}

/**
 * `code`, whose classes of these names have plain members. Throws for those that
 * it does not have, and for fields that read what their constructor declares.
 */
export function plainMembers(code: string, classes: ReadonlySet<string>): string {
  const program = parseAst(code) as unknown as Node & { readonly body: readonly Node[] };
  /** Those that the file declares at its top, by which there is a name for each. */
  const changed = new Map<Node, string>();
  const missing = new Set(classes);
  for (const { owner, name } of program.body.flatMap(classesIn)) {
    if (missing.delete(name) && owner["superClass"] === null) changed.set(owner, name);
  }
  if (missing.size > 0) throw new Error(`The file has no class ${[...missing].join(", ")}.`);

  /** What is put behind the brace that opens a node. */
  const openings = new Map<Node, string>();
  const dropped = new Set<Node>();

  /** The text of a node. `own`: the names of private members of the classes around it, of the innermost first. */
  const render = (node: Node, own: readonly Names[]): string => {
    if (node.type === "PrivateIdentifier") {
      const name = node["name"] as string;
      const after = /\w/.test(code[node.start - 1]!) ? " " : ""; // `async#run`
      return after + (own.find((names) => names.has(name))?.get(name) ?? `#${name}`);
    }
    const isBrandCheck = node.type === "BinaryExpression" &&
      (node["left"] as Node).type === "PrivateIdentifier";
    if (isBrandCheck && render(node["left"] as Node, own).trim().startsWith("_")) {
      throw new Error(
        `A class of the kernel cannot ask for a private member: ${
          code.slice(node.start, node.end)
        }`,
      );
    }
    let known = own;
    if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
      const { body: members } = node["body"] as { readonly body: readonly Member[] };
      const isChanged = changed.has(node);
      known = [plainNames(members, isChanged), ...own];
      if (isChanged) {
        checkMembers(members, code);
        moveFields(node, members, known);
      }
    }
    const opening = openings.get(node);
    let at = node.start + (opening === undefined ? 0 : 1);
    let text = opening === undefined ? "" : `{${opening}`;
    for (const child of childrenOf(node).toSorted((a, b) => a.start - b.start)) {
      if (child.start < at) continue; // key and value of a shorthand property
      text += code.slice(at, child.start);
      if (!dropped.has(child)) text += render(child, known);
      at = child.end;
      if (node !== program) continue;
      for (const { owner, name } of classesIn(child)) {
        if (changed.has(owner)) text += `\n${ALONE}(${name});`;
      }
    }
    return text + code.slice(at, node.end);
  };

  const moveFields = (owner: Node, members: readonly Member[], own: readonly Names[]): void => {
    const fields = members.filter(({ type, static: isStatic }) =>
      type === "PropertyDefinition" && isStatic !== true
    );
    if (fields.length === 0) return;
    const constructor = members.find(({ kind }) => kind === "constructor")?.value;
    const set = setIn(constructor?.body);
    const text = fields.filter(({ key, value }) => value !== null || !set.has(nameOf(key))).map((
      { key, value },
    ) => `this.${render(key, own)} = ${value === null ? "void 0" : render(value, own)};`).join(
      "\n",
    );
    for (const field of fields) dropped.add(field);
    if (!constructor) {
      openings.set(owner["body"] as Node, `constructor() {${text}}`);
      return;
    }
    openings.set(constructor.body, text);
    const declared = declaredIn(constructor.body, new Set());
    for (const parameter of constructor.params) namesIn(parameter, declared);
    for (const { value } of fields) {
      if (value === null) continue;
      const inField = declaredIn(value, new Set());
      for (const name of namesIn(value)) {
        if (inField.has(name) || !declared.has(name)) continue;
        const field = code.slice(value.start, value.end);
        throw new Error(`A field reads ${name}, which its constructor declares: ${field}`);
      }
    }
  };

  const changedCode = render(program, []);
  return changed.size === 0
    ? changedCode
    : changedCode.replace(IMPORTS, (imports) => imports + HELPER);
}
