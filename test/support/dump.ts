import type { CellChange, ViewStore } from '../../src/ports/view-store.ts'

/** The whole content of a view store as text, for comparison. How often cells were replaced is no content. */
export const dumpText = async (views: Pick<ViewStore, 'dump'>): Promise<string> => {
  const { checkpoint, cells, close } = await views.dump()
  const { replacements: _, ...comparable } = checkpoint ?? {}
  const lines = [JSON.stringify(checkpoint && comparable)]
  for await (const { address, value } of cells) lines.push(`${address} ${value}`)
  close()
  return lines.join('\n')
}

/** The value of every cell of a view store, by address. */
export const cellsOf = async (views: Pick<ViewStore, 'dump'>): Promise<Map<string, string>> => {
  const { cells, close } = await views.dump()
  const found = new Map<string, string>()
  for await (const { address, value } of cells) found.set(address, value)
  close()
  return found
}

/** Writes cells past the projector, as someone with access to the store could. */
export const forgeCells = async (
  views: Pick<ViewStore, 'checkpoint' | 'replaceCells'>,
  changes: CellChange[],
): Promise<void> => {
  const checkpoint = await views.checkpoint()
  if (!checkpoint) throw new Error('the views are empty')
  await views.replaceCells(changes, checkpoint, checkpoint)
}
