/**
 * Gives scales the ticks that their `fixedTicks` name: Chart.js wants functions, specs are data. The
 * page gets this function's own source text, so it uses nothing from outside itself.
 */
export function applyFixedTicks(config: Record<string, unknown>): void {
  const { scales } = config["options"] as { scales: Record<string, Record<string, unknown>> };
  for (const scale of Object.values(scales)) {
    const fixed = scale["fixedTicks"] as readonly { value: number; label: string }[] | undefined;
    if (fixed === undefined) continue;
    delete scale["fixedTicks"];
    scale["afterBuildTicks"] = (axis: { ticks: { value: number }[] }) => {
      axis.ticks = fixed.map(({ value }) => ({ value }));
    };
    scale["ticks"] = {
      autoSkip: false,
      ...(scale["ticks"] as Record<string, unknown> | undefined),
      callback: (value: number) => fixed.find((tick) => tick.value === value)?.label,
    };
  }
}
