/** A Markdown table: the first two columns are text, the others figures. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    line(header),
    line(header.map((_, index) => index < 2 ? "---" : "--:")),
    ...rows.map(line),
  ];
}
