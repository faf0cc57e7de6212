import { keyed, type StreamLeaf } from '../../domain/seals/prefix-tree.ts'
import { branchesOver, type TreePage, topsOf } from '../../domain/seals/tree-page.ts'

// The form in which view stores, which keep texts, hold pages of the tree over all streams.

export const textOf = (page: TreePage): string =>
  'leaves' in page
    ? JSON.stringify(page.leaves.map(({ stream, head, links }) => ({ stream, head, links })))
    : topsOf(page).toString('base64url')

/** The page with this text, whether or not its hash is right; undefined if no service wrote the text. */
export const pageOf = (place: string, text: string): TreePage | undefined =>
  text.startsWith('[') ? leavesOf(text) : branchesOver(place, Buffer.from(text, 'base64url'))

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
