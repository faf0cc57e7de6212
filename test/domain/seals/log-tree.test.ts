import fc from 'fast-check'
import t from 'tap'
import { sha256 } from '../../../src/domain/digest.ts'
import { LinkLevels } from '../../../src/domain/seals/link-levels.ts'
import { consistencyPath, emptyLogTree, inclusionPath, rootOf, withLink } from '../../../src/domain/seals/log-tree.ts'
import { isExtension, isIncluded, linksRoot } from '../../support/merkle.ts'

const linksOf = (count: number) => Array.from({ length: count }, (_, index) => sha256(`link ${index}`))

/** The hash with one bit changed. */
const flipped = (hash: string, bit: number): string => {
  const bytes = Buffer.from(hash, 'hex')
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return bytes.toString('hex')
}

t.test('the root is that of RFC 9162, whatever the number of links', async t => {
  let tree = emptyLogTree
  t.equal(rootOf(tree), sha256(''))
  for (const [index, link] of linksOf(70).entries()) {
    tree = withLink(tree, link)
    t.equal(rootOf(tree), linksRoot(linksOf(index + 1)))
  }
})

t.test('a tree of two links, by hand', async t => {
  const [one, other] = ['11'.repeat(32), '22'.repeat(32)]
  const leaf = (link: string) => sha256(Buffer.from(`00${link}`, 'hex'))
  t.equal(linksRoot([one, other]), sha256(Buffer.from(`01${leaf(one)}${leaf(other)}`, 'hex')))
})

t.test('a path proves each link, and nothing else', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(), fc.nat(255), (size, pick, bit) => {
      const links = linksOf(size)
      const index = pick % size
      const [link, root] = [links[index] as string, linksRoot(links)]
      const path = inclusionPath(links, index)
      const isRight = isIncluded(link, index, size, path, root)
      const isRefused = [
        isIncluded(flipped(link, bit), index, size, path, root),
        isIncluded(link, index, size, path, flipped(root, bit)),
        isIncluded(link, index, size, [...path, root], root),
        isIncluded(link, size, size, path, root),
        ...path.map((step, at) => isIncluded(link, index, size, path.with(at, flipped(step, bit)), root)),
        ...path.map((_, at) => isIncluded(link, index, size, path.toSpliced(at, 1), root)),
      ]
      return isRight && !isRefused.includes(true)
    }),
  )
})

t.test('a path proves that a tree extends another, and nothing else', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(), fc.nat(255), (size, pick, bit) => {
      const links = linksOf(size)
      const earlier = { size: 1 + (pick % size), root: linksRoot(links.slice(0, 1 + (pick % size))) }
      const later = { size, root: linksRoot(links) }
      const path = consistencyPath(links, earlier.size)
      const isRight = isExtension(earlier, later, path)
      const isRefused = [
        isExtension({ ...earlier, root: flipped(earlier.root, bit) }, later, path),
        isExtension(earlier, { ...later, root: flipped(later.root, bit) }, path),
        isExtension(earlier, later, [...path, later.root]),
        ...path.map((step, at) => isExtension(earlier, later, path.with(at, flipped(step, bit)))),
        ...path.map((_, at) => isExtension(earlier, later, path.toSpliced(at, 1))),
      ]
      return isRight && !isRefused.includes(true)
    }),
  )
})

t.test('a tree that keeps its parts has the same roots and paths, also for its first links alone', async () => {
  const levels = new LinkLevels()
  const links = linksOf(100)
  for (const link of links) levels.add(link)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.nat(), (size, pick) => {
      const [first, index] = [links.slice(0, size), pick % size]
      return (
        levels.root(size) === linksRoot(first) &&
        same(levels.inclusion(index, size), inclusionPath(first, index)) &&
        same(levels.consistency(index + 1, size), consistencyPath(first, index + 1))
      )
    }),
  )
})

const same = (one: string[], other: string[]): boolean => one.join() === other.join()
