/** A table with longer lines would not fit beside its other columns. */
const LINE_LENGTH = 60

/** Words in lines of a limited length. */
export const inLines = (words: readonly string[]): string => {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 2 + word.length <= LINE_LENGTH) lines[lines.length - 1] = `${last}, ${word}`
    else lines.push(word)
  }
  return lines.join(',\n')
}
