import { keyed, type StreamLeaf } from '../../domain/seals/prefix-tree.ts'
import { HASH_BYTES, type TreePage } from '../../domain/seals/tree-page.ts'

// The form in which view stores, which keep texts, hold pages of the tree over all streams.

/** Node 0 does not exist, and the hash of node 1 is in the address. */
const FIRST_STORED = 2
const NODES = 32

export const textOf = (page: TreePage): string =>
  'leaves' in page
    ? JSON.stringify(page.leaves.map(({ stream, head, links }) => ({ stream, head, links })))
    : page.hashes.toString('base64url', FIRST_STORED * HASH_BYTES)

/** The page with this text, whether or not its hashes are right; undefined if no service wrote the text. */
export const pageOf = (hash: string, text: string): TreePage | undefined => {
  if (text.startsWith('[')) return leavesOf(text)
  // Nothing reads what lies in the place of node 0.
  const hashes = Buffer.allocUnsafe(NODES * HASH_BYTES)
  hashes.write(hash, HASH_BYTES, 'hex')
  const bytes = hashes.write(text, FIRST_STORED * HASH_BYTES, 'base64url')
  return bytes === (NODES - FIRST_STORED) * HASH_BYTES ? { hashes } : undefined
}

const leavesOf = (text: string): TreePage | undefined => {
  try {
    const leaves = JSON.parse(text) as StreamLeaf[]
    return leaves.every(isWhole) ? { leaves: leaves.map(keyed) } : undefined
  } catch {
    return undefined
  }
}

/** Fewer hashes may have the same root, and would grow into another tree: there is one for each bit of the size. */
const isWhole = ({ links: { size, hashes } }: StreamLeaf): boolean =>
  hashes.length === [...size.toString(2)].filter(bit => bit === '1').length
