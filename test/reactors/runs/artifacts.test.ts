import { readdir } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import type { OutputType } from '../../../schemas/catalog.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { Media } from '../../../src/ports/provider.ts'
import {
  Artifacts,
  type PromisedResult,
  type RunWithResult,
  storedUntilMs,
} from '../../../src/reactors/runs/artifacts.ts'
import { UnfitResult } from '../../../src/reactors/runs/result-file.ts'
import { MAX_OUTPUT_FILES, OutputKeys } from '../../../src/services/files/output-keys.ts'
import { openFolder } from '../../adapters/object-store/disk.ts'
import { fullDisk, needsFullDisk } from '../../adapters/object-store/full-disk.ts'
import { faultOf, openForDevelopment, serve } from '../../adapters/outbound/servers.ts'
import { watchMemory } from '../../contract/large-objects.ts'
import { accountId, runId } from '../../support/account-samples.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { picture, sampleFiles, tinyFilm, tinySound } from '../../support/sample-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { isLong } from '../../support/test-length.ts'
import { until } from '../../support/until.ts'

const MEGABYTE = 1024 * 1024
const RETENTION_MS = 3_600_000
const FILM = tinyFilm()
const [png, other, jpeg] = [await picture('png'), await picture('png', 7), await picture('jpeg')]
const keys = new OutputKeys('a master secret of 32 characters')

/** What to store, and what was promised: by default, as many files as there are, of the type of the first. */
interface Options extends PromisedResult {
  of: RunWithResult
  signal: AbortSignal
  text: string
}

const typeOf = (media: Media | undefined) => (media?.mimeType.split('/')[0] ?? 'text') as OutputType

const open = async (t: Test, folder?: string) => {
  const place = folder ?? (await temporaryFolder(t))
  const { store: objects } = await openFolder(t, place)
  const clock = new ManualClock()
  const outbound = openForDevelopment(t)
  const parts = { objects, outbound, keys, clock, retentionMs: RETENTION_MS, originOf: () => undefined }
  const artifacts = new Artifacts(parts)
  const run = (number = 1) => ({
    ...{ accountId: accountId(number), runId: runId(number), timeoutMs: 60_000, provider: 'vendor' },
    startedAt: new Date(clock.nowMs()).toISOString(),
  })
  const store = (
    media: Media[],
    { of = run(), signal = new AbortController().signal, text = '', ...promised }: Partial<Options> = {},
  ) =>
    artifacts.store(
      of,
      { kind: 'done', media, ...(text && { text }) },
      { type: typeOf(media[0]), files: media.length, ...promised },
      signal,
    )
  const filesIn = (name: string) => readdir(join(place, name)).catch(() => [])
  const files = async () => [...(await filesIn('arriving')), ...(await filesIn('outputs'))]
  const read = async (key: string) => {
    const found = await objects.get(key)
    return found && buffer(found.body)
  }
  const arriving = artifacts.arrivingFiles()
  const arrive = async (pieces: Iterable<Uint8Array>, mimeType = 'image/png') => {
    const file = arriving.open()
    for (const piece of pieces) await file.write(piece)
    await file.end()
    return { file, mimeType }
  }
  return { store, run, clock, files, read, arriving, arrive }
}

/** A server of files: of bytes, or of whatever the test sends. */
const serveFiles = (t: Test, files: Record<string, Buffer | ((response: ServerResponse) => void)>) =>
  serve(t, ({ url = '' }: IncomingMessage, response) => {
    const file = files[url.slice(1)]
    if (Buffer.isBuffer(file)) response.end(file)
    else if (file) file(response)
    else response.writeHead(410).end('<html>gone</html>')
  })

/** Sends a film of so many megabytes, and holds one of them. */
const film = (megabytes: number, headers: Record<string, number> = {}) => {
  const zeros = Buffer.alloc(MEGABYTE)
  return (response: ServerResponse) => {
    response.writeHead(200, headers).write(FILM)
    let left = megabytes
    const send = () => {
      while (left-- > 0) if (!response.write(zeros)) return response.once('drain', send)
      return response.end()
    }
    send()
  }
}

const at = (url: string, mimeType = 'video/mp4'): Media => ({ url, mimeType })

t.test('files and their facts are stored under the keys of their run', async t => {
  const { store, clock, read } = await open(t)
  const url = await serveFiles(t, { 'a.png': png })
  const output = await store([at(`${url}a.png`, 'image/png'), { bytes: jpeg, mimeType: 'image/jpeg' }], { text: 'Hi.' })
  t.same(output, {
    artifacts: [
      {
        objectKey: keys.keyOf(runId(1), 0, 'image/png'),
        mimeType: 'image/png',
        sizeBytes: png.length,
        ...{ sha256: sha256(png), c2pa: 'absent' },
      },
      {
        ...{ objectKey: keys.keyOf(runId(1), 1, 'image/jpeg'), mimeType: 'image/jpeg' },
        ...{ sizeBytes: jpeg.length, sha256: sha256(jpeg), c2pa: 'absent' },
      },
    ],
    text: 'Hi.',
    willDeleteAt: new Date(clock.nowMs() + RETENTION_MS).toISOString(),
  })
  for (const [index, bytes] of [png, jpeg].entries())
    t.ok((await read(output.artifacts[index]?.objectKey ?? ''))?.equals(bytes))
})

t.test('a file that arrives is stored when it is a part of the result, and discarded otherwise', async t => {
  const { store, read, files, arriving, arrive } = await open(t)
  const bytes = Buffer.concat([png, Buffer.alloc(500_000)])
  const pieces = [bytes.subarray(0, 100_000), bytes.subarray(100_000)]
  const [result, unused] = [await arrive(pieces), await arrive([jpeg])]
  const [artifact, ...others] = (await store([result])).artifacts
  const facts = { mimeType: 'image/png', sizeBytes: bytes.length, sha256: sha256(bytes), c2pa: 'absent' } as const
  t.same([artifact, others], [{ objectKey: keys.keyOf(runId(1), 0, 'image/png'), ...facts }, []])
  t.equal((await files()).length, 2)
  await arriving.discard()
  for (const file of [unused.file, arriving.open()]) {
    await file.write(jpeg)
    await file.end()
  }
  t.equal((await files()).length, 1)
  t.ok((await read(artifact?.objectKey ?? ''))?.equals(bytes))
})

t.test('a file that arrives is whole, of the promised type and not too large', async t => {
  const { store, files, arriving, arrive } = await open(t)
  const [page, cutOff] = [await arrive([documents.page]), await arrive([png.subarray(0, 50)])]
  await t.rejects(store([page]), { name: 'UnfitResult', message: /a text instead of an image/ })
  await t.rejects(store([cutOff]), { name: 'UnfitResult', message: /not complete/ })
  const pieces = [png, ...Array<Buffer>(64).fill(Buffer.alloc(MEGABYTE))]
  await t.rejects(store([await arrive(pieces)]), { name: 'UnfitResult', message: /more than 64 MB/ })
  await t.rejects(store([await arrive([])]), { name: 'UnfitResult', message: /empty/ })
  await arriving.discard()
  t.same(await files(), [])
})

t.test('a vendor can open so many files, and no more', async t => {
  const { store, files, arriving, arrive } = await open(t)
  const all: Media[] = []
  while (all.length < MAX_OUTPUT_FILES + 1) all.push(await arrive([png]))
  t.equal((await files()).length, MAX_OUTPUT_FILES)
  await t.rejects(store(all.slice(-1)), { name: 'UnfitResult', message: /more than 16 files/ })
  t.equal((await store(all.slice(0, 1))).artifacts.length, 1)
  await arriving.discard()
})

t.test('a file whose bytes are being written is discarded after that', async t => {
  const { files, arriving } = await open(t)
  const file = arriving.open()
  const written = Promise.all([file.write(Buffer.alloc(MEGABYTE)), file.write(png)])
  await arriving.discard()
  await written
  t.same(await files(), [])
})

t.test('the type is what the bytes show, whatever the provider states', async t => {
  const { store, run } = await open(t)
  const pcm = Buffer.alloc(5_000, Buffer.from([0x3c, 1, 0x80, 0xfe]))
  const opus = Buffer.from(`OggS\0\x02${'\0'.repeat(22)}OpusHead${'\0'.repeat(100)}`, 'latin1')
  const vorbis = Buffer.from(`OggS\0\x02${'\0'.repeat(20)}\x01\x1e\x01vorbis${'\0'.repeat(100)}`, 'latin1')
  const url = await serveFiles(t, { png, pcm, opus, vorbis, film: FILM, sound: tinySound() })
  const cases: [file: string, type: OutputType, stated: string, kept: string, extension: string][] = [
    ['png', 'image', 'application/octet-stream', 'image/png', 'png'],
    ['png', 'image', '', 'image/png', 'png'],
    ['png', 'image', 'image/webp', 'image/png', 'png'],
    ['png', 'image', 'video/mp4', 'image/png', 'png'],
    ['film', 'video', 'image/png', 'video/mp4', 'mp4'],
    ['sound', 'audio', 'audio/mpeg', 'audio/wav', 'wav'],
    ['opus', 'audio', 'audio/mpeg', 'audio/ogg', 'ogg'],
    ['vorbis', 'audio', '', 'audio/ogg', 'ogg'],
    ['pcm', 'audio', 'audio/pcm', 'audio/pcm', 'bin'],
    ['pcm', 'audio', 'audio/L16;codec=pcm;rate=24000', 'audio/l16', 'bin'],
    // A type that no event can hold, and no header.
    ['png', 'image', `image/${'x'.repeat(95)}`, 'image/png', 'png'],
    ['png', 'image', '[object Object]', 'image/png', 'png'],
  ]
  for (const [index, [file, type, stated, kept, extension]] of cases.entries()) {
    const { artifacts } = await store([at(url + file, stated)], { of: run(index + 1), type })
    t.match(artifacts, [{ mimeType: kept, objectKey: new RegExp(`\\.${extension}$`) }], `${file} as ${stated}`)
  }
})

const documents = {
  page: Buffer.from('<!DOCTYPE html><html><body>This link has expired.</body></html>'),
  fragment: Buffer.from('\ufeff\n <p>expired</p>'),
  xml: Buffer.from('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'),
  json: Buffer.from('{"detail": "Not found"}'),
  list: Buffer.from('["error"]'),
  words: Buffer.from('upstream image expired, please retry'),
  chinese: Buffer.from('图片已过期'.repeat(2_000)),
  // The signatures of pictures and sounds that begin with letters.
  bitmap: Buffer.from('BMP files cannot be made now'),
  ape: Buffer.from('MAC address unknown'),
  byte: Buffer.from('x'),
  zero: Buffer.alloc(1),
  pdf: Buffer.from('%PDF-1.7\n'),
  zip: Buffer.from('PK\u0003\u0004\u0014\0\0\0\0\0', 'latin1'),
  garbage: Buffer.from('data:image/png;base64,AAAA', 'base64'),
}

const stated = ['image/png', 'video/mp4', 'audio/mpeg', 'audio/pcm', 'application/octet-stream', '']

t.test('a document or an empty file is no result, and leaves nothing', async t => {
  const { store, files } = await open(t)
  const url = await serveFiles(t, { ...documents, empty: Buffer.alloc(0) })
  for (const name of Object.keys(documents))
    for (const [index, type] of (['image', 'video', 'audio'] as const).entries())
      await t.rejects(
        Promise.all(stated.map(each => store([at(url + name, each)], { type }))),
        { name: 'UnfitResult', message: / instead of a| that is not complete/ },
        `${name} for ${type} ${index}`,
      )
  await t.rejects(store([at(`${url}empty`)]), { name: 'UnfitResult', message: /empty/ })
  await t.rejects(store([{ bytes: documents.page, mimeType: 'image/png' }]), UnfitResult)
  t.same(await files(), [])
})

t.test('a file of another type than the promised one is no result', async t => {
  const { store, files, run } = await open(t)
  const samples: Record<string, Buffer> = {
    ...(await sampleFiles()),
    'audio/wav': tinySound(),
    'video/quicktime': FILM,
  }
  for (const [index, [mimeType, bytes]] of Object.entries(samples).entries()) {
    const kind = mimeType.split('/')[0]
    for (const type of ['image', 'video', 'audio'] as const)
      if (type === kind) t.equal((await store([{ bytes, mimeType }], { type, of: run(index + 1) })).artifacts.length, 1)
      else
        await t.rejects(store([{ bytes, mimeType: `${type}/x` }], { type, of: run(index + 1) }), {
          name: 'UnfitResult',
          message: / instead of (an image|a video|a sound)\.$/,
        })
  }
  t.equal((await files()).length, Object.keys(samples).length)
})

t.test('a file that is cut off is no result, wherever it ends', async t => {
  const { store, files } = await open(t)
  const { 'video/mp4': mp4 = png, ...samples } = await sampleFiles()
  const pictures = Object.entries(samples).filter(([type]) => type.startsWith('image/'))
  const cases: [string, Buffer][] = [...pictures, ['video/mp4', mp4], ['audio/wav', tinySound()]]
  for (const [mimeType, bytes] of cases)
    for (const share of [0.2, 0.5, 0.9])
      await t.rejects(
        store([{ bytes: bytes.subarray(0, Math.floor(bytes.length * share)), mimeType }]),
        { name: 'UnfitResult' },
        `${share} of ${mimeType}`,
      )
  // Samples have no signature, but a length.
  for (const length of [2, 798, 4_801])
    await t.rejects(store([{ bytes: Buffer.alloc(length), mimeType: 'audio/pcm' }]), /a sound that is not complete/)
  t.same(await files(), [])
})

t.test('a sound that was streamed states no length, and is whole', async t => {
  const { store } = await open(t)
  const bytes = tinySound()
  bytes.writeUInt32LE(0xffff_ffff, 4)
  t.match((await store([{ bytes, mimeType: 'audio/wav' }])).artifacts, [{ mimeType: 'audio/wav' }])
})

t.test('fewer files than promised are no result, and more are not stored', async t => {
  const { store, run, files } = await open(t)
  const image = { bytes: png, mimeType: 'image/png' }
  const options = { type: 'image', files: 2 } as const
  await t.rejects(store([image], options), { name: 'UnfitResult', message: 'The provider returned 1 of 2 files.' })
  await t.rejects(store([], { ...options, text: 'No.' }), { message: 'The provider returned 0 of 2 files.' })
  t.same(await files(), [])
  t.equal((await store([image, image, image], { ...options, of: run(2) })).artifacts.length, 2)
  t.equal((await files()).length, 2)
})

t.test('a text is promised alone, and not empty', async t => {
  const { store, files } = await open(t)
  const image = { bytes: png, mimeType: 'image/png' }
  const options = { type: 'text', files: 0 } as const
  t.same(await store([image], { ...options, text: 'Hi.' }), { artifacts: [], text: 'Hi.' })
  for (const text of ['', ' \n'])
    await t.rejects(store([image], { ...options, text }), { message: 'The provider returned no text.' })
  t.same(await files(), [])
})

t.test('an expired address and a connection that breaks in the middle leave nothing', async t => {
  const { store, files } = await open(t)
  const broken = (response: ServerResponse) => {
    response.writeHead(200, { 'Content-Length': 5_000_000 })
    response.write(Buffer.concat([FILM, Buffer.alloc(1_000_000)]), () => response.destroy())
  }
  const url = await serveFiles(t, { broken })
  t.match((await faultOf(store([at(`${url}gone`)]))).message, /status 410/)
  t.match((await faultOf(store([at(`${url}broken`)]))).message, /cut off/)
  t.same(await files(), [])
})

t.test('a film of 300 MB is refused and never held in memory', async t => {
  const { store, files } = await open(t)
  const url = await serveFiles(t, {
    declared: film(0, { 'Content-Length': 300 * MEGABYTE }),
    streamed: film(300),
  })
  t.match((await faultOf(store([at(`${url}declared`)]))).message, /more than 256 MB/)
  t.same(await files(), [])
  const peakBytes = await watchMemory(async () => {
    t.match((await faultOf(store([at(`${url}streamed`)]))).message, /more than 256 MB/)
  }, 60 * MEGABYTE)
  t.ok(peakBytes < 60 * MEGABYTE, `${peakBytes} bytes at the most`)
  t.same(await files(), [])
})

const COPIES = isLong ? 40 : 15

t.test('many copies at once take little memory', async t => {
  const { store, run, files } = await open(t)
  const url = await serveFiles(t, { film: film(12) })
  const peakBytes = await watchMemory(
    () => Promise.all(Array.from({ length: COPIES }, (_, index) => store([at(`${url}film`)], { of: run(index + 1) }))),
    100 * MEGABYTE,
  )
  t.ok(peakBytes < 100 * MEGABYTE, `${peakBytes} bytes at the most, of ${COPIES * 12 * MEGABYTE}`)
  t.equal((await files()).length, COPIES)
})

t.test('a limit follows from the kind of file', async t => {
  const { store } = await open(t)
  const url = await serveFiles(t, { file: film(0, { 'Content-Length': 70 * MEGABYTE }) })
  t.match((await faultOf(store([at(`${url}file`, 'image/png')]))).message, /more than 64 MB/)
  const audio = await serveFiles(t, { file: film(0, { 'Content-Length': 130 * MEGABYTE }) })
  t.match((await faultOf(store([at(`${audio}file`, 'audio/wav')]))).message, /more than 128 MB/)
  const bytes = Buffer.alloc(64 * MEGABYTE + 1)
  const tooLarge = { name: 'UnfitResult', message: /more than 64 MB/ }
  await t.rejects(store([{ bytes, mimeType: 'image/png' }]), tooLarge)
})

t.test('other work has its turns while a large file is read', async t => {
  const { store } = await open(t)
  let turns = 0
  const work = setInterval(() => turns++)
  t.teardown(() => clearInterval(work))
  const bytes = Buffer.concat([png, Buffer.alloc(40 * MEGABYTE)])
  const { artifacts } = await store([{ bytes, mimeType: 'image/png' }])
  t.match(artifacts, [{ sha256: sha256(bytes), sizeBytes: bytes.length }])
  t.ok(turns >= 40, `${turns} turns`)
})

t.test('a file of an earlier attempt is the result, and is described as it is', async t => {
  const { store, read } = await open(t)
  const files = { file: png }
  const url = await serveFiles(t, files)
  const first = await store([at(`${url}file`, 'image/png'), { bytes: png, mimeType: 'image/png' }])
  files.file = other
  const second = await store([at(`${url}file`, 'image/png'), { bytes: other, mimeType: 'image/png' }])
  t.same(second, first)
  for (const { objectKey, sha256: digest } of second.artifacts) {
    t.equal(digest, sha256(png))
    t.ok((await read(objectKey))?.equals(png))
  }
})

t.test('attempts at the same time agree on the bytes', async t => {
  const { store, read } = await open(t)
  const outputs = await Promise.all(
    Array.from({ length: 10 }, (_, index) => store([{ bytes: index % 2 ? png : other, mimeType: 'image/png' }])),
  )
  const [
    {
      artifacts: [first],
    } = { artifacts: [] },
  ] = outputs
  for (const { artifacts } of outputs) t.same(artifacts, [first])
  t.equal(sha256((await read(first?.objectKey ?? '')) ?? ''), first?.sha256)
})

t.test('a file that fails ends the copies of the others', async t => {
  const { store, files } = await open(t)
  let isClosed = false
  const endless = (response: ServerResponse) => {
    response.on('close', () => {
      isClosed = true
    })
    response.write(FILM)
  }
  const url = await serveFiles(t, { endless })
  await faultOf(store([at(`${url}endless`), at(`${url}gone`)]))
  await until('the other copy ends', async () => isClosed && (await files()).length === 0)
})

t.test('a stop ends a copy', async t => {
  const { store, files } = await open(t)
  let isSending = false
  const endless = (response: ServerResponse) => {
    response.write(FILM)
    isSending = true
  }
  const url = await serveFiles(t, { endless })
  const stop = new AbortController()
  const stored = store([at(`${url}endless`)], { signal: stop.signal })
  await until('the file arrives', () => isSending)
  stop.abort(new Error('the service stops'))
  await t.rejects(stored, { message: 'the service stops' })
  await until('nothing is left', async () => (await files()).length === 0)
})

t.test('no file is stored once the files of its run may have been deleted', async t => {
  const { store, run, clock, files } = await open(t)
  const started = run()
  const url = await serveFiles(t, {
    film: response => {
      // As if the process had been suspended.
      clock.advance(storedUntilMs(started) - clock.nowMs())
      response.end(FILM)
    },
  })
  await t.rejects(store([at(`${url}film`)], { of: started }), { name: 'UnfitResult', message: /too long/ })
  t.same(await files(), [])
})

t.test('a result has a limited number of files', async t => {
  const { store, files } = await open(t)
  const images = Array.from({ length: MAX_OUTPUT_FILES }, () => ({ bytes: png, mimeType: 'image/png' }))
  await t.rejects(store([...images, ...images.slice(0, 1)]), UnfitResult)
  await t.rejects(store(images, { text: 'x'.repeat(300_000) }), UnfitResult)
  t.same(await files(), [])
  t.equal((await store(images)).artifacts.length, MAX_OUTPUT_FILES)
})

t.test('a disk that is full takes no result, and keeps nothing of it', needsFullDisk(), async t => {
  const { store, files, arriving, arrive } = await open(t, await fullDisk(t))
  const url = await serveFiles(t, { film: film(3) })
  await t.rejects(store([at(`${url}film`)]), Unavailable)
  await t.rejects(store([await arrive([png, Buffer.alloc(2 * MEGABYTE), png])]), Unavailable)
  await arriving.discard()
  t.same(await files(), [])
})
