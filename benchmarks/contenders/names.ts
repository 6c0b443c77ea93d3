/** Names that scenarios have in common. They import nothing, so that a process that measures its start can use them. */
export const KNITTING = "Knitting";
