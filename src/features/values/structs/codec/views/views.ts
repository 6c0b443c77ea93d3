/**
 * Views of structs in place: getters that read directly from the memory. One class per shape, built from
 * closures over constant offsets, which are fast without generated code.
 */
import { type ArrayShape, isScalar, LENGTH_BYTES, scalarShape } from "../../schema/shape.ts";
import type { Shape, StructShape, TextShape } from "../../schema/shape.ts";
import { ElementsView, NumbersView } from "./array-views.ts";
import type { NumericKind } from "../../schema/field-types.ts";
import type { Viewer } from "../../schema/input.ts";
import { isPresent } from "../../schema/checks.ts";
import { oncePerShape, planOf } from "../plan.ts";
import { RecordView } from "./record-view.ts";
import { boundedLength } from "../text.ts";

/** The viewer of a field of `shape`, created once. */
export const viewerOf: (shape: Shape) => Viewer = oncePerShape((shape) => {
  switch (shape.kind) {
    case "struct":
      return structViewer(shape);
    case "array":
      return arrayViewer(shape);
    case "bytes":
      return bytesViewer(shape);
    default:
      return planOf(shape).read as Viewer; // without inner structure: the value itself
  }
});

function structViewer(shape: StructShape): Viewer {
  const plan = planOf(shape);
  const View = class extends RecordView {};
  const inOrder = [...shape.fields].sort((a, b) => a.index - b.index);
  for (const { key, shape: of, offset, bit } of inOrder) {
    const viewer = viewerOf(of);
    const presenceAt = shape.presenceAt;
    const get = bit < 0
      ? function (this: RecordView): unknown {
        return viewer(RecordView.open(this), RecordView.addressOf(this) + offset);
      }
      : function (this: RecordView): unknown {
        const source = RecordView.open(this);
        const at = RecordView.addressOf(this);
        return isPresent(source.memory.i32, at + presenceAt, bit)
          ? viewer(source, at + offset)
          : undefined;
      };
    Object.defineProperty(View.prototype, key, { get, enumerable: true, configurable: true });
  }
  return (source, at) => new View(source, at, shape, plan);
}

function arrayViewer({ of, max, elementsAt }: ArrayShape): Viewer {
  const stride = of.size;
  const viewer = viewerOf(of);
  const plan = planOf(of);
  const numeric = isScalar(of) && of.kind !== "bool" ? of.kind : undefined;
  return (source, at) => {
    const start = max === undefined ? source.openArray(at, stride) : at + elementsAt;
    const count = max === undefined ? source.count : boundedLength(source, at, max);
    const elements = { source, start, count, stride };
    return numeric === undefined
      ? new ElementsView(elements, viewer, plan)
      : new NumbersView(elements, viewer, plan, numeric as NumericKind);
  };
}

/** Bytes are viewed as an array of u8, since a Uint8Array on the memory itself could not be revoked. */
function bytesViewer({ max }: TextShape): Viewer {
  const byte = planOf(scalarShape("u8"));
  return (source, at) => {
    const count = max === undefined
      ? source.memory.i32[(at >> 2) + 1]!
      : boundedLength(source, at, max);
    const start = max === undefined ? source.openBytes(at, count) : at + LENGTH_BYTES;
    return new NumbersView({ source, start, count, stride: 1 }, byte.read as Viewer, byte, "u8");
  };
}
