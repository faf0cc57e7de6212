import type { ViewStore } from '../../src/ports/view-store.ts'

/** The whole content of a view store as text, for comparison. */
export const dumpText = async (views: ViewStore): Promise<string> => {
  const { checkpoint, cells, close } = await views.dump()
  const lines = [JSON.stringify(checkpoint)]
  for await (const { address, value } of cells) lines.push(`${address} ${value}`)
  close()
  return lines.join('\n')
}
