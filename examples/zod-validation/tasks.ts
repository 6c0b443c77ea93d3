import { z } from "zod";

const Order = z.object({
  id: z.number().int().positive(),
  email: z.email(),
  items: z.array(z.object({ sku: z.string().min(3), count: z.number().int().min(1) })).min(1),
});

export type Order = z.infer<typeof Order>;

export interface Checked {
  readonly valid: Order[];
  readonly errors: { readonly line: number; readonly message: string }[];
}

/** Parses and checks lines of JSON. */
export function check(text: string): Checked {
  const checked: Checked = { valid: [], errors: [] };
  for (const [index, line] of text.split("\n").entries()) {
    const result = Order.safeParse(JSON.parse(line));
    if (result.success) checked.valid.push(result.data);
    else {
      const [{ path, code }] = result.error.issues as [z.core.$ZodIssue];
      checked.errors.push({ line: index + 1, message: `${path.join(".")}: ${code}` });
    }
  }
  return checked;
}
