/** What a run is asked for and makes, by the unit of a price list. */
export const quantitiesOf = (input: Record<string, unknown>, outputs: number): Record<string, number> => {
  const { text } = input
  const characters = typeof text === 'string' ? { characters: [...text].length } : {}
  return { ...input, outputs, runs: 1, ...characters } as Record<string, number>
}
