/** node build.mjs OUT [--external] */
import webpack from "webpack";

const [path, isExternal] = process.argv.slice(2);

const compiler = webpack({
  mode: "production",
  target: "node22",
  entry: { main: "../program/main.mjs", tasks: "../program/tasks.mjs" },
  output: {
    path,
    module: true,
    filename: "[name].mjs",
    chunkFilename: "[name].mjs",
    // Without it webpack drops the exports of the tasks, which it sees nobody import.
    library: { type: "module" },
  },
  externals: isExternal ? [/^heddle/] : [],
  externalsType: "module",
  experiments: { outputModule: true },
});
compiler.run((error, stats) => {
  if (error ?? stats.hasErrors()) {
    console.error(error ?? stats.toString());
    process.exitCode = 1;
  }
});
