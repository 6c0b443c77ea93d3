import { createElement, type ReactElement } from "react";
import { renderToString } from "react-dom/server";

export interface Product {
  readonly name: string;
  readonly price: number;
}

function Price({ value }: { readonly value: number }): ReactElement {
  return createElement("b", null, `${value.toFixed(2)} €`);
}

function Page({ products }: { readonly products: readonly Product[] }): ReactElement {
  return createElement(
    "ul",
    null,
    products.map(({ name, price }) =>
      createElement("li", { key: name }, name, " ", createElement(Price, { value: price }))
    ),
  );
}

/** Props go in as data, and HTML comes out as text: elements are not sent. */
export const render = (products: readonly Product[]): string =>
  renderToString(createElement(Page, { products }));
