import { emptyLogTree, withLink } from '../../domain/seals/log-tree.ts'
import type { StreamLeaf } from '../../domain/seals/stream-tree.ts'
import { Damaged } from '../../ports/faults.ts'

/** A leaf with further events of its stream. Throws Damaged if they do not follow it. */
export const extended = (
  stream: string,
  events: { revision: number; link: string }[],
  leaf: StreamLeaf | undefined,
): StreamLeaf => {
  let { links, head } = leaf ?? { links: emptyLogTree, head: '' }
  for (const { revision, link } of events) {
    if (revision !== links.size)
      throw new Damaged(
        `${stream} continues with revision ${revision}, but its last seal ends before revision ${links.size}`,
      )
    links = withLink(links, link)
    head = link
  }
  return { stream, head, links }
}
