import { Readable } from 'node:stream'
import t from 'tap'
import type { RunRow } from '../../../schemas/views.ts'
import type { AccountCaller } from '../../../src/services/caller.ts'
import { Previews } from '../../../src/services/runs/previews.ts'

const MEGABYTE = 1024 * 1024

const pictures = (run: string) => ({
  output: {
    artifacts: [0, 1, 2, 3].map(index => ({
      ...{ objectKey: `outputs/${run}-${index}.png`, mimeType: 'image/png' },
      ...{ sizeBytes: 30 * MEGABYTE, sha256: 'a'.repeat(64) },
    })),
  },
})

t.test('few large pictures are in memory at a time, however many calls ask for them', async t => {
  let held = 0
  let most = 0
  let reads = 0
  const previews = new Previews({
    objects: {
      get: async () => {
        reads++
        most = Math.max(most, ++held)
        return { body: Readable.from([Buffer.from('picture')]), sizeBytes: 7 } as never
      },
    },
    scaler: {
      scale: async () => {
        await new Promise(setImmediate)
        held--
        return new Uint8Array(1)
      },
    },
    logger: { warn: t.fail } as never,
  })
  const caller = { kind: 'key', accountId: 'acc' } as unknown as AccountCaller
  const { signal } = new AbortController()
  const calls = Array.from({ length: 20 }, (_, index) =>
    previews.ofRun(caller, pictures(`run${index % 5}`) as unknown as RunRow, signal),
  )
  for (const shown of await Promise.all(calls)) t.equal('value' in shown && shown.value.length, 4)
  t.ok(most <= 2, `${most} at a time`)
  t.equal(reads, 20, 'each picture is read once')
})
