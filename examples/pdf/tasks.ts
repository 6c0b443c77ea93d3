/** A small PDF writer, in place of a library such as pdf-lib or pdfkit, which also run on the thread that calls them. */
import { Buffer } from "node:buffer";
import { deflateSync } from "node:zlib";

export interface Invoice {
  readonly customer: string;
  readonly items: readonly { readonly name: string; readonly price: number }[];
}

const ROWS_PER_PAGE = 40;

/** A page of text, as an object of the document: each line is shown below the one before it. */
function pageOf(lines: readonly string[]): readonly (string | Uint8Array)[] {
  const shown = lines.map((line) => `(${line.replace(/[()\\]/g, "\\$&")}) '`).join("\n");
  const bytes = deflateSync(`BT /F 12 Tf 18 TL 60 800 Td\n${shown}\nET`);
  return [`<</Length ${bytes.length}/Filter/FlateDecode>>\nstream\n`, bytes, "\nendstream"];
}

/** The document of an invoice. */
export function toPdf({ customer, items }: Invoice): Uint8Array<ArrayBuffer> {
  const rows = items.map(({ name, price }) => `${name}  ${price.toFixed(2)}`);
  rows.push(`total  ${items.reduce((sum, { price }) => sum + price, 0).toFixed(2)}`);
  const pages = Array.from({ length: Math.ceil(rows.length / ROWS_PER_PAGE) }, (_, n) => [
    `Invoice for ${customer}, page ${n + 1}`,
    ...rows.slice(n * ROWS_PER_PAGE, (n + 1) * ROWS_PER_PAGE),
  ]);
  const kids = pages.map((_, n) => `${4 + 2 * n} 0 R`).join(" ");
  return assemble([
    ["<</Type/Catalog/Pages 2 0 R>>"],
    [`<</Type/Pages/Kids[${kids}]/Count ${pages.length}/MediaBox[0 0 595 842]>>`],
    ["<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"],
    ...pages.flatMap((lines, n) => [
      [`<</Type/Page/Parent 2 0 R/Resources<</Font<</F 3 0 R>>>>/Contents ${5 + 2 * n} 0 R>>`],
      pageOf(lines),
    ]),
  ]);
}

/** The numbered objects of a document, and the table of their places. */
function assemble(objects: readonly (readonly (string | Uint8Array)[])[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const write = (part: string | Uint8Array): void => {
    length += parts[parts.push(Buffer.from(part as string, "latin1")) - 1]!.length;
  };
  write("%PDF-1.4\n");
  const places = objects.map((object, n) => {
    const place = String(length).padStart(10, "0");
    for (const part of [`${n + 1} 0 obj\n`, ...object, "\nendobj\n"]) write(part);
    return `${place} 00000 n \n`;
  });
  const count = objects.length + 1;
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${places.join("")}`;
  write(`${table}trailer\n<</Size ${count}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`);
  return new Uint8Array(Buffer.concat(parts));
}
