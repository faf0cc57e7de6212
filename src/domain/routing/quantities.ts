/** The parameters and results of a run, by the unit of a price list. */
export const quantitiesOf = (input: Record<string, unknown>, outputs: number): Record<string, number> => {
  const { text } = input
  const characters = typeof text === 'string' ? { characters: [...text].length } : {}
  return { ...input, outputs, runs: 1, ...characters } as Record<string, number>
}
