// An ES module that registers its functions later, and does something when it ends.
import { writeFileSync } from "node:fs";
import { worker } from "@heddle/workerpool";

let file;
setTimeout(() => {
  worker({
    add: (a, b) => a + b,
    onEndWrite: (path) => {
      file = path;
    },
  }, {
    async onTerminate(code) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (file !== undefined) writeFileSync(file, `ended with ${code}`);
    },
  });
}, 50);
