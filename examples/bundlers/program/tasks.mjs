/** @param {string} text */
export function shout(text) {
  return `${text.toUpperCase()}!`;
}
