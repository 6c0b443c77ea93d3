/** bun build.mjs OUT [--external | --compile] */
const [outdir, mode] = process.argv.slice(2);
const entries = ["../program/main.mjs", "../program/tasks.mjs"];

if (mode === "--compile") {
  // Further entries lie in the executable under their names.
  await Bun.build({ entrypoints: entries, compile: { outfile: `${outdir}/program` } });
} else {
  await Bun.build({
    entrypoints: entries,
    outdir,
    minify: true,
    target: "bun",
    naming: "[name].mjs",
    external: mode === "--external" ? ["heddle"] : [],
  });
}
