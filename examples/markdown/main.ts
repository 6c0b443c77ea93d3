/** Converts many Markdown texts to HTML. */
import { createPool } from "heddle";

const texts = Array.from({ length: 200 }, (_, n) => `# Page ${n}\n\n* **bold**\n* \`code\`\n`);

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);
const pages = await pool.map(pool.call.toHtml, texts);
console.log(pages.length);
console.log(pages[7]!.trim());
await pool.shutdown();
