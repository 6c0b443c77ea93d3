import { Marked } from "marked";

const marked = new Marked({ gfm: true });

export const toHtml = (markdown: string): string => marked.parse(markdown) as string;
