/** Collects all pages into one list. */
export const collect = async <Item>(pages: AsyncIterable<Item[]>): Promise<Item[]> => {
  const items: Item[] = []
  for await (const page of pages) items.push(...page)
  return items
}
