/**
 * Makes private members of classes plain properties, and sets fields in the constructor, in the files that runtimes load. For fields
 * that a class declares, engines make one function more, which runs before the constructor: a fifth of all functions of a start.
 * Only in the folders of the kernel, whose objects programs do not get: others keep their members private.
 */
import { parseAst } from "rolldown/parseAst";

/** Sources whose classes are changed, as rolldown names them. */
const KERNEL =
  /^src\/(?:codec|host|lane|memory|metering|ring|sync|worker|api\/(?:calls|tasks|pool\/pool-core))\b/;
/** The comment before the text of a source. */
const SOURCE = /^\/\/ (src\/\S+)$/gm;

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
  if (node.type === "VariableDeclarator") namesIn(node["id"] as Node, names);
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

/** Short names for the private members of a class: `_0`, `_1`. None if it keeps them. */
function plainNames(members: readonly Member[], isChanged: boolean): Names {
  const own = new Set(
    members.filter(({ key }) => key?.type === "PrivateIdentifier").map(({ key }) => key.name),
  );
  return new Map([...own].map((name, index) => [name, isChanged ? `_${index}` : `#${name}`]));
}

/** `code`, whose classes of the kernel have plain members. Throws if that would change what one of them does. */
export function plainMembers(code: string): string {
  const sources = [...code.matchAll(SOURCE)].map(({ 1: path = "", index }) => ({ path, index }));
  const isOfKernel = ({ start }: Node): boolean =>
    KERNEL.test(sources.findLast(({ index }) => index < start)?.path ?? "");

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
    let known = own;
    if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
      const { body: members } = node["body"] as { readonly body: readonly Member[] };
      const isChanged = node["superClass"] === null && isOfKernel(node);
      known = [plainNames(members, isChanged), ...own];
      if (isChanged) moveFields(node, members, known);
    }
    const opening = openings.get(node);
    let at = node.start + (opening === undefined ? 0 : 1);
    let text = opening === undefined ? "" : `{${opening}`;
    for (const child of childrenOf(node).toSorted((a, b) => a.start - b.start)) {
      if (child.start < at) continue; // key and value of a shorthand property
      text += code.slice(at, child.start);
      if (!dropped.has(child)) text += render(child, known);
      at = child.end;
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

  return render(parseAst(code) as unknown as Node, []);
}
