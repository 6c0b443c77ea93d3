enum Color {
  Red = 7,
}
export const red = (): number => Color.Red;
