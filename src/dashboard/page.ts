/** The page of the dashboard. Its script (scripts/dashboard/client.ts with Chart.js) is inside. */
import { PAGE_SCRIPT } from "./page-script.ts";

export const PAGE: string = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>heddle pools</title>
<style>
  :root { color-scheme: light dark; font-family: system-ui, sans-serif; }
  body { max-width: 1300px; margin: 0 auto; padding: 1rem; }
  h1 { font-size: 1.3rem; }
  h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
  #state { color: GrayText; }
  dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.5rem, 1fr)); gap: 0.5rem; }
  dl div { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 4px; padding: 0.4rem; }
  dt { font-size: 0.8rem; color: GrayText; }
  dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
  .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
  .chart { position: relative; height: 14rem; min-width: 0; }
  /* A table that scrolls has a shadow where more of it is: its ends hide the shadows, and scroll with it. */
  .table {
    --shadow: color-mix(in srgb, CanvasText 35%, transparent);
    overflow-x: auto;
    background:
      linear-gradient(to right, Canvas 75%, transparent) left / 1rem 100% no-repeat local,
      linear-gradient(to left, Canvas 75%, transparent) right / 1rem 100% no-repeat local,
      linear-gradient(to right, var(--shadow), transparent) left / 0.75rem 100% no-repeat,
      linear-gradient(to left, var(--shadow), transparent) right / 0.75rem 100% no-repeat;
  }
  table { border-collapse: collapse; margin: 0.5rem 0; width: 100%; font-variant-numeric: tabular-nums; }
  th, td { text-align: right; padding: 0.2rem 0.6rem; white-space: nowrap; }
  th.group { text-align: center; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
  tr:first-child > th:first-child, td:first-child { text-align: left; }
  td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 8rem; }
  thead { border-bottom: 1px solid currentColor; }
</style>
</head>
<body>
<h1>heddle pools</h1>
<p id="state" role="status">Loading</p>
<main id="pools"></main>
<script>${PAGE_SCRIPT.replaceAll("</script", "<\\/script")}</script>
</body>
</html>
`;
