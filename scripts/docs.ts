/**
 * Builds the site: writes its pages from the Markdown files of the project, the API reference from the doc comments,
 * and `llms.txt`; then runs VitePress. Everything written is under docs/.vitepress and not committed.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { API_PAGES, pageOf, PAGES, SIDEBAR } from "../docs/.vitepress/navigation.ts";
import { renderOtherLooks } from "../graphs/render.ts";
import { apiReference } from "./docs-api.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const site = join(root, "docs/.vitepress");
const pages = join(site, "pages");
const HOME = "docs/index.md";
/** Links that work in the package too: its docs lack what these name. */
const ON_GITHUB =
  /^https:\/\/(?:github\.com\/heddle-js\/heddle\/(?:blob|tree)|raw\.githubusercontent\.com\/heddle-js\/heddle)\/main\//;

const read = (file: string): string => readFileSync(join(root, file), "utf8");

function write(path: string, text: string): void {
  const file = join(pages, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Example folders are sections of their page, with their code. */
function withExamples(text: string): string {
  const folders = readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const sections = folders.map((name) => {
    const folder = `examples/${name}`;
    const readme = existsSync(join(root, folder, "README.md"))
      ? read(`${folder}/README.md`).replace(/^# .*\n/, "")
      : "";
    const files = readdirSync(join(root, folder)).filter((file) => /\.tsx?$/.test(file)).sort();
    const code = files.map((file) => `\`${file}\`\n\n\`\`\`ts\n${read(`${folder}/${file}`)}\`\`\``);
    return `## ${name}\n\n${readme}\n\n${code.join("\n\n")}`;
  });
  const linked = text.replace(/\]\(([a-z0-9-]+)\)/g, "](#$1)");
  return `${linked}\n\n${sections.join("\n\n")}\n`;
}

/** Where the site has a file or folder of the project; undefined if it does not. */
function placeOnSite(target: string, anchor: string): string | undefined {
  if (/^graphs\/.*\.png$/.test(target)) return `/${target}`;
  if (target === "graphs/index.html") return "/graphs/index.html";
  const reference = API_PAGES.find(({ source }) => source === target);
  if (reference !== undefined) return `/${pageOf(reference.file)}${anchor}`;
  if (target === "README.md") return `/${anchor}`;
  const found = [target, `${target}/README.md`].find((file) => PAGES.includes(file));
  if (found !== undefined) return `/${pageOf(found)}${anchor}`;
  const [, example] = /^examples\/([^/]+)/.exec(target) ?? [];
  return example === undefined ? undefined : `/examples/index.md#${example}`;
}

/** A link of a Markdown file, as the site has it; undefined if the site does not have its target. */
function linkOnSite(from: string, link: string): string | undefined {
  const isOnGitHub = ON_GITHUB.test(link);
  if (!isOnGitHub && /^([a-z]+:|#|\/)/.test(link)) return link;
  const [path = "", hash] = link.replace(ON_GITHUB, "").split("#");
  const folder = isOnGitHub ? "" : posix.dirname(from);
  const target = posix.normalize(posix.join(folder, path)).replace(/\/$/, "");
  const place = placeOnSite(target, hash === undefined ? "" : `#${hash}`);
  return place ?? (isOnGitHub ? link : undefined);
}

/** The text outside code fences, changed. */
export function outsideFences(text: string, change: (text: string) => string): string {
  return text.split(/(^ *```[^]*?^ *```$)/m)
    .map((part, at) => at % 2 === 0 ? change(part) : part).join("");
}

/** Links to what is on the site lead there. Of other links, to sources and results, the text remains. */
function withSiteLinks(file: string, text: string): string {
  return outsideFences(
    text,
    (part) =>
      part.replace(/(!?)\[((?:[^\]\\]|\\.)*)\]\(([^)\s]+)\)/g, (_, image, label, link) => {
        const target = linkOnSite(file, link);
        if (target !== undefined) return `${image}[${label}](${target})`;
        if (image !== "") throw new Error(`${file}: the site has no ${link}`);
        return label;
      }),
  );
}

const withoutComments = (text: string): string =>
  outsideFences(text, (part) => part.replace(/<!--[^]*?-->\n*/g, ""));

function writePages(): Map<string, string> {
  const texts = new Map<string, string>();
  for (const file of [HOME, ...PAGES]) {
    const own = file === "examples/README.md" ? withExamples(read(file)) : read(file);
    const text = withSiteLinks(file, withoutComments(own));
    texts.set(pageOf(file), text);
  }
  for (const [file, text] of apiReference(root)) {
    texts.set(pageOf(file), withSiteLinks(file, text));
  }
  for (const [path, text] of texts) write(path, text);
  return texts;
}

function writeCharts(): void {
  const target = join(pages, "public/graphs");
  mkdirSync(target, { recursive: true });
  for (const file of readdirSync(join(root, "graphs"))) {
    if (/\.(png|html)$/.test(file)) copyFileSync(join(root, "graphs", file), join(target, file));
  }
  renderOtherLooks(join(root, "results/"), `${target}/`);
}

/** For language models: an index of the pages, and all pages in one file. */
function writeForModels(texts: ReadonlyMap<string, string>): void {
  const lines = SIDEBAR.map(({ text, items }) =>
    `## ${text}\n\n${items.map((item) => `- [${item.text}](${item.link})`).join("\n")}`
  );
  const [summary = ""] = read("README.md").split("\n\n").slice(1);
  write("public/llms.txt", `# heddle\n\n> ${summary}\n\n${lines.join("\n\n")}\n`);
  const order = [...texts].filter(([path]) => path !== "index.md");
  const full = order.map(([path, text]) => `<!-- ${path} -->\n\n${text.trim()}`);
  write("public/llms-full.txt", `# heddle\n\n${full.join("\n\n")}\n`);
}

rmSync(pages, { recursive: true, force: true });
const texts = writePages();
writeCharts();
writeForModels(texts);
const vitepress = join(root, "node_modules/vitepress/bin/vitepress.js");
const { status } = spawnSync(process.execPath, [vitepress, "build", "docs"], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
