/** Runs in each worker before its tasks: builds the index of the texts. */
import MiniSearch from "minisearch";

export interface Text {
  readonly id: number;
  readonly title: string;
  readonly body: string;
}

export default function setup(texts: readonly Text[]): MiniSearch<Text> {
  const index = new MiniSearch<Text>({ fields: ["title", "body"], storeFields: ["title"] });
  index.addAll(texts);
  return index;
}
