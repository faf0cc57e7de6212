import { EMPTY_TREE, hashOfNode, keyOf, type Nodes, type TreeNode, towards } from '../../domain/seals/stream-tree.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import { batchesOf } from './batches.ts'

/** As many nodes as a store reads or writes at a time without holding up others. */
const BATCH = 500

/** Keeps the nodes of trees over all streams in the views. A node proves itself by its hash, so none can be forged. */
export class TreeStore {
  readonly #views: Pick<ViewStore, 'loadNodes' | 'saveNodes' | 'deleteNodes'>

  constructor(views: Pick<ViewStore, 'loadNodes' | 'saveNodes' | 'deleteNodes'>) {
    this.#views = views
  }

  /**
   * The nodes on the paths of some streams, read one level of the tree at a time. Rejects with NodeMissing if one of
   * them is not stored as it was written.
   */
  async paths(root: string, streams: string[]): Promise<Nodes> {
    const nodes = new Map<string, TreeNode>()
    let level = root === EMPTY_TREE ? [] : [{ hash: root, keys: streams.map(keyOf) }]
    while (level.length > 0) {
      const loaded = await this.#load(level.map(({ hash }) => hash))
      level = level.flatMap(({ hash, keys }, index) => {
        const node = loaded[index] as TreeNode
        nodes.set(hash, node)
        return towards(node, keys)
      })
    }
    return nodes
  }

  async save(nodes: Map<string, TreeNode>): Promise<void> {
    for (const batch of batchesOf([...nodes], BATCH))
      await this.#views.saveNodes(batch.map(([hash, node]) => [hash, JSON.stringify(node)]))
  }

  async delete(hashes: string[]): Promise<void> {
    for (const batch of batchesOf(hashes, BATCH)) await this.#views.deleteNodes(batch)
  }

  async #load(hashes: string[]): Promise<TreeNode[]> {
    const nodes: TreeNode[] = []
    for (const batch of batchesOf(hashes, BATCH))
      for (const [index, text] of (await this.#views.loadNodes(batch)).entries())
        nodes.push(toNode(batch[index] as string, text))
    return nodes
  }
}

/** A node of a tree was not stored, or not as it was written. The tree can be made again from the log. */
export class NodeMissing extends Error {
  override name = 'NodeMissing'
}

const toNode = (hash: string, text: string | undefined): TreeNode => {
  try {
    const node = JSON.parse(text ?? '') as TreeNode
    if (hashOfNode(node) === hash) return node
  } catch {
    // Text that no service wrote is as good as none.
  }
  throw new NodeMissing(`the node ${hash} of the tree over all streams is not stored`)
}
