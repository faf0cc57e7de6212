import type { ViewStore } from '../../src/ports/view-store.ts'

/** All that a view store holds, as text: two stores are the same when these are. */
export const dumpText = async (views: ViewStore): Promise<string> => {
  const { checkpoint, cells, close } = await views.dump()
  const lines = [JSON.stringify(checkpoint)]
  for await (const { address, value } of cells) lines.push(`${address} ${value}`)
  close()
  return lines.join('\n')
}
