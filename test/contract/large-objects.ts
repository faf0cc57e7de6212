import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import root, { type Test } from 'tap'
import { key, type OpenedStore } from './object-store.ts'

const PNG = 'image/png'
const MEGABYTE = 1024 * 1024

/** Half of the large object: leaves room for the buffers between two streams. */
const ENOUGH_BYTES = 20 * MEGABYTE

/** The contract of stores that keep objects outside of memory. */
export const largeObjectContract = (name: string, open: (t: Test) => Promise<OpenedStore>, parent: Test = root) =>
  parent.test(`${name} never holds a large object in memory`, async t => {
    const { store } = await open(t)
    const [sent, got] = [createHash('sha256'), createHash('sha256')]
    const piece = (index: number) => Buffer.alloc(MEGABYTE, `${index} `)
    const source = function* () {
      for (let index = 0; index < 40; index++) {
        sent.update(piece(index))
        yield piece(index)
      }
    }
    const peakBytes = await watchMemory(async () => {
      const incoming = await store.receive()
      await pipeline(Readable.from(source()), incoming.body)
      await incoming.store(key(1), PNG)
      const found = await store.get(key(1))
      t.equal(found?.sizeBytes, 40 * MEGABYTE)
      for await (const bytes of found?.body ?? []) got.update(bytes)
    })
    t.equal(got.digest('hex'), sent.digest('hex'))
    t.ok(peakBytes < ENOUGH_BYTES, `${peakBytes} bytes at the most`)
  })

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The maximum of buffer memory during some work, relative to before. */
export const watchMemory = async (work: () => Promise<unknown>, enoughBytes = ENOUGH_BYTES): Promise<number> => {
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  const grown = () => process.memoryUsage().arrayBuffers - before
  let peak = 0
  const timer = setInterval(() => {
    // Most growth is garbage. Another thread frees it after collection, so the next round waits for it.
    for (let round = 0; round < 2 && grown() >= enoughBytes; round++) collectGarbage()
    peak = Math.max(peak, grown())
  }, 5)
  await work().finally(() => clearInterval(timer))
  return peak
}
