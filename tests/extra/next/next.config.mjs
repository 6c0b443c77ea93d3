export default {
  serverExternalPackages: ["heddle"],
  output: "standalone",
  turbopack: { root: `${process.cwd()}/..` },
};
