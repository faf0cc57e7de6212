import { LRUCache } from 'lru-cache'
import t from 'tap'
import { upTo } from '../../src/flow/cache-limit.ts'

t.test('a cache keeps the newest entries', async t => {
  const cache = new LRUCache<string, number>(upTo(2))
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index)
  t.same([...cache.keys()].toSorted(), ['b', 'c'])
})

t.test('an empty cache reserves no memory for its entries', async t => {
  t.equal(new LRUCache<string, number>(upTo(50_000)).max, 0)
})
