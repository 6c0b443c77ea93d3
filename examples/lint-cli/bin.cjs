#!/usr/bin/env node
/** What `bin` of a package names. A CommonJS file loads the ES module by `import()`: the bundle beside it, or the sources. */
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const bundle = join(__dirname, "lint.mjs");
void import(pathToFileURL(existsSync(bundle) ? bundle : join(__dirname, "main.ts")).href);
