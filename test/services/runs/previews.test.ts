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
      put: t.fail as never,
      delete: t.fail as never,
    },
    outputKeys: { thumbnailOf: t.fail as never },
    reads: { getOwn: t.fail as never },
    scaler: {
      scaleToWidth: t.fail as never,
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

t.test('a thumbnail is made once, kept, and deleted if the files of its run are gone meanwhile', async t => {
  const stored = new Map([['outputs/run-0.png', Buffer.from('picture')]])
  let made = 0
  let now: Partial<RunRow> = {}
  const previews = new Previews({
    objects: {
      get: async key => {
        const bytes = stored.get(key)
        return bytes && ({ body: Readable.from([bytes]), sizeBytes: bytes.length } as never)
      },
      put: async (key, bytes) => Boolean(stored.set(key, Buffer.from(bytes))),
      delete: async key => void stored.delete(key),
    },
    outputKeys: { thumbnailOf: () => 'thumbnails/run.webp' },
    reads: { getOwn: (async () => now) as never },
    scaler: {
      scale: t.fail as never,
      scaleToWidth: async (_bytes, width) => {
        t.equal(width, 320)
        await new Promise(setImmediate)
        return new Uint8Array([++made])
      },
    },
    logger: { warn: t.fail } as never,
  })
  const caller = { kind: 'session', accountId: 'acc' } as unknown as AccountCaller
  const row = { runId: 'run', accountId: 'acc', ...pictures('run') } as unknown as RunRow
  const ask = async (asked = row) => {
    const shown = await previews.thumbnailOf(caller, asked)
    return 'value' in shown && shown.value?.[0]
  }
  t.same(await Promise.all([ask(), ask(), ask()]), [1, 1, 1])
  t.equal(await ask(), 1)
  t.equal(made, 1)

  stored.delete('thumbnails/run.webp')
  now = { outputDeletedAt: '2026-11-27T00:00:00.000Z' }
  await ask()
  t.notOk(stored.has('thumbnails/run.webp'), 'its run has lost its files')
  t.equal(await ask({ ...row, ...now } as RunRow), undefined)
})
