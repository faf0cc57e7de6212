import { sha256 } from '../digest.ts'

/**
 * An append-only Merkle tree over the links of a stream, as RFC 9162, section 2.1, defines it: each entry is a link, in
 * its 32 bytes. Only the hashes that later entries need are kept: those of the largest complete subtrees, from left to
 * right. All hashes are in lowercase hex.
 */
export interface LogTree {
  readonly size: number
  readonly hashes: readonly string[]
}

export const emptyLogTree: LogTree = { size: 0, hashes: [] }

/** The tree with one more link. */
export const withLink = ({ size, hashes }: LogTree, link: string): LogTree => {
  const grown = [...hashes, leafHash(link)]
  // Each complete subtree joins its left neighbour of the same size, as digits carry when a binary number grows.
  for (let rest = size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
    const [left = '', right = ''] = grown.splice(-2)
    grown.push(nodeHash(left, right))
  }
  return { size: size + 1, hashes: grown }
}

/** The root of the tree: SHA-256 of nothing for an empty one. */
export const rootOf = ({ hashes }: LogTree): string => {
  const [last = EMPTY_ROOT, ...others] = hashes.toReversed()
  return others.reduce((right, left) => nodeHash(left, right), last)
}

/** The path from a link to the root of the tree over all `links`: the other children, from the leaf up. */
export const inclusionPath = (links: readonly string[], index: number): string[] => {
  if (links.length <= 1) return []
  const split = splitOf(links.length)
  const [left, right] = [links.slice(0, split), links.slice(split)]
  return index < split
    ? [...inclusionPath(left, index), rootOfLinks(right)]
    : [...inclusionPath(right, index - split), rootOfLinks(left)]
}

/** The proof that the tree over all `links` extends the tree over the first `size` of them, of which there is one. */
export const consistencyPath = (links: readonly string[], size: number): string[] => subproof(links, size, true)

const subproof = (links: readonly string[], size: number, isKnown: boolean): string[] => {
  if (size === links.length) return isKnown ? [] : [rootOfLinks(links)]
  const split = splitOf(links.length)
  const [left, right] = [links.slice(0, split), links.slice(split)]
  return size <= split
    ? [...subproof(left, size, isKnown), rootOfLinks(right)]
    : [...subproof(right, size - split, false), rootOfLinks(left)]
}

/** The root of the tree over these links. */
const rootOfLinks = (links: readonly string[]): string => rootOf(links.reduce(withLink, emptyLogTree))

/** The largest power of two below a size. */
export const splitOf = (size: number): number => {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

export const EMPTY_ROOT = sha256('')

export const leafHash = (link: string): string => sha256(Buffer.from(`00${link}`, 'hex'))

export const nodeHash = (left: string, right: string): string => sha256(Buffer.from(`01${left}${right}`, 'hex'))
