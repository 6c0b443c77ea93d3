// scripts/fix-lock.mjs
// `npm ci` refuses a lockfile that lacks an optional platform package, and the registry this project sees
// does not carry every foreign platform build. Adds a stub entry for each such package: npm never fetches a
// package whose os/cpu does not match, and later `npm install` runs keep the stubs.
import { readFileSync, writeFileSync } from "node:fs";

const file = "package-lock.json";
const lock = JSON.parse(readFileSync(file, "utf8"));
const packages = lock.packages;
const first = (name, table) => table.find((key) => name.includes(key));
const resolves = (at, name) => {
  for (let dir = at;; dir = dir.slice(0, Math.max(0, dir.lastIndexOf("/node_modules/")))) {
    if (packages[dir ? `${dir}/node_modules/${name}` : `node_modules/${name}`]) return true;
    if (!dir) return false;
  }
};
let added = 0;
for (const [at, entry] of Object.entries(packages)) {
  if (!at) continue;
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (resolves(at, name) || !/^\d/.test(version)) continue;
    const tail = name.replace("windows", "win32").replace("aarch64", "arm64");
    const os = first(tail, [
      "darwin",
      "win32",
      "linux",
      "freebsd",
      "openbsd",
      "netbsd",
      "android",
      "openharmony",
      "sunos",
      "aix",
    ]);
    const cpu = first(tail, [
      "arm64",
      "x64",
      "ia32",
      "arm",
      "ppc64",
      "riscv64",
      "s390x",
      "loong64",
      "mips64el",
      "wasm32",
    ]);
    packages[`node_modules/${name}`] = {
      version,
      dev: entry.dev,
      optional: true,
      ...(os && { os: [os] }),
      cpu: [cpu ?? "unknown"],
      ...(tail.includes("musl")
        ? { libc: ["musl"] }
        : os === "linux" && /gnu|glibc/.test(tail) && { libc: ["glibc"] }),
    };
    added++;
  }
}
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} stub entries added`);
