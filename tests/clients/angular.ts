/** Angular's builds, with and without what else uses its pool: translation and prerendering. */
import { type Client, generate, prose, repeat, wrapper } from "./client.ts";

/** Parts of 15 lazy routes, with styles, and messages to translate. */
const angularPart = (n: number): string =>
  `import { Component, computed, input, signal } from "@angular/core";
${
    repeat(6, (i) =>
      `@Component({
  selector: "app-item-${n}-${i}",
  styles: \`.item { color: rgb(${n}, ${i}, 0); & b { margin: ${i}px ${n}px; } }\`,
  template: \`<p class="item" i18n="@@item-${n}-${i}">Item ${i} of page ${n}: {{ label() }}</p>
    @for (thread of threads(); track thread) { <b (click)="turn(thread)">{{ thread }}</b> } @empty { <i i18n="@@none">No threads</i> }\`,
})
export class Item${n}x${i} {
  readonly label = input("${prose(n + i, 8)}");
  readonly count = signal(${n});
  readonly threads = computed(() => Array.from({ length: this.count() }, (_, at) => at * ${i + 1}));
  turn(thread: number): void { this.count.update((count) => count + thread); }
}`)
  }
@Component({
  selector: "app-page-${n}",
  imports: [${Array.from({ length: 6 }, (_, i) => `Item${n}x${i}`).join(", ")}],
  template: \`<h1 i18n="@@page-${n}">Page ${n}</h1>${
    repeat(6, (i) => `<app-item-${n}-${i} label="${i}" />`)
  }\`,
})
export class Page {}
`;

/** The translations of every message; they are longer than the messages. */
const angularLocale = (locale: string): string =>
  JSON.stringify({
    locale,
    translations: {
      none: `${locale}: no threads at all`,
      ...generate(15, (n) => `page-${n}`, (n) => `${locale}: this is page ${n}`),
      ...generate(90, (at) =>
        `item-${at % 15}-${Math.floor(at / 15)}`, (at) =>
        `${locale}: {$INTERPOLATION} (${at})`),
    },
  });

type AngularKind = "plain" | "i18n" | "prerender";

const angularConfig = (kind: AngularKind): string =>
  JSON.stringify({
    version: 1,
    cli: { analytics: false, cache: { enabled: false } },
    projects: {
      app: {
        projectType: "application",
        root: "",
        sourceRoot: "src",
        i18n: { sourceLocale: "en", locales: { de: "de.json", fr: "fr.json" } },
        architect: {
          build: {
            builder: "@angular/build:application",
            options: {
              browser: "src/main.ts",
              index: "src/index.html",
              tsConfig: "tsconfig.json",
              outputPath: "dist",
              polyfills: ["@angular/localize/init"],
              localize: kind === "i18n",
              i18nMissingTranslation: "error",
              ...(kind === "prerender"
                ? { server: "src/main.server.ts", outputMode: "static" }
                : {}),
            },
          },
        },
      },
    },
  });

const angularApp = (kind: AngularKind, title: string): Client => ({
  title,
  project: "an application of 15 lazy pages",
  swaps: "piscina",
  packages: {
    "@angular/build": "22.2.0",
    "@angular/cli": "22.2.0",
    "@angular/common": "22.2.0",
    "@angular/compiler": "22.2.0",
    "@angular/compiler-cli": "22.2.0",
    "@angular/core": "22.2.0",
    "@angular/localize": "22.2.0",
    "@angular/platform-browser": "22.2.0",
    "@angular/platform-server": "22.2.0",
    "@angular/router": "22.2.0",
    "@angular/ssr": "22.2.0",
    rxjs: "7.8.2",
    tslib: "2.9.1",
    typescript: "6.0.3",
  },
  files: {
    ...generate(15, (n) => `src/page-${n}.ts`, angularPart),
    "src/app.ts": `import { Component } from "@angular/core";
import { provideRouter, RouterOutlet } from "@angular/router";
@Component({ selector: "app-root", imports: [RouterOutlet], template: "<router-outlet />" })
export class App {}
export const routes = provideRouter([
${
      repeat(15, (n) =>
        `  { path: "${n}", loadComponent: () => import("./page-${n}").then((m) => m.Page) },`)
    }
]);
`,
    "src/main.ts": `import { bootstrapApplication } from "@angular/platform-browser";
import { App, routes } from "./app";
bootstrapApplication(App, { providers: [routes] });
`,
    "src/main.server.ts":
      `import { bootstrapApplication, type BootstrapContext } from "@angular/platform-browser";
import { provideServerRendering, RenderMode, withRoutes } from "@angular/ssr";
import { App, routes } from "./app";
const rendering = provideServerRendering(withRoutes([{ path: "**", renderMode: RenderMode.Prerender }]));
export default (context: BootstrapContext) =>
  bootstrapApplication(App, { providers: [routes, rendering] }, context);
`,
    "src/index.html":
      `<!doctype html><html lang="en"><head><base href="/"></head><body><app-root></app-root></body></html>`,
    "tsconfig.json": `{
  "compilerOptions": { "target": "ES2022", "module": "preserve", "moduleResolution": "bundler", "strict": true, "skipLibCheck": true, "types": ["@angular/localize"] },
  "files": ["src/main.ts", "src/main.server.ts"]
}`,
    "angular.json": angularConfig(kind),
    "de.json": angularLocale("de"),
    "fr.json": angularLocale("fr"),
    "package.json": `{ "private": true }`,
    "build.cjs": wrapper(
      ["@angular/cli/bin/ng.js", "build", "--progress=false"],
      {},
      / \[[0-9.]+ seconds\].*/g,
    ),
  },
  command: ["build.cjs"],
  written: ["dist"],
});

export const angular = angularApp("plain", "Angular 22, `ng build`");

export const angularI18n = angularApp("i18n", "Angular 22, `ng build` in three languages");

export const angularPrerender = angularApp("prerender", "Angular 22, `ng build` with prerendering");
