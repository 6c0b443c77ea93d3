/** Images of charts: the one for the theme, and on a phone the one that is made for it (`graphs/looks.ts`). */
import type { MarkdownRenderer } from "vitepress";

const CHART = /^(\/graphs\/[a-z0-9-]+)\.png$/;
/** As wide as the charts for phones are made. */
const PHONE = "(max-width: 640px)";

/** `ground`: what the names of the files have for the theme. */
const picture = (chart: string, alt: string, theme: string, ground: string): string =>
  `<picture class="chart-${theme}"><source media="${PHONE}" srcset="${chart}-phone${ground}.png">` +
  `<img src="${chart}${ground}.png" alt="${alt}" loading="lazy"></picture>`;

export function chartImages(md: MarkdownRenderer): void {
  const { image } = md.renderer.rules;
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const token = tokens[index]!;
    const [, chart] = CHART.exec(token.attrGet("src") ?? "") ?? [];
    if (chart === undefined) return image!(tokens, index, options, env, self);
    const alt = md.utils.escapeHtml(token.content);
    return picture(chart, alt, "light", "") + picture(chart, alt, "dark", "-dark");
  };
}
