import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Artifact } from '../../schemas/account-events.ts'
import type { Run, RunList } from '../../schemas/api/run.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { collect } from '../support/collect.ts'
import { auditFolder } from '../support/ledger.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { picture, tinyFilm } from '../support/sample-files.ts'
import { openAccounts, type Service, startService } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { COMPLETED, FAL_KEY, startFal } from '../support/vendors/fal.ts'
import { KEY as OPENAI_KEY } from '../support/vendors/openai.ts'
import { reply, startVendorServer } from '../support/vendors/vendor-server.ts'

t.setTimeout(240_000)

/** When a lease of the dead process has ended, and when no file of its run can appear any more. */
const TAKEN_OVER_MS = 60_000
const SETTLED_MS = 3 * 60 * 60_000

const png = await picture('png')
const film = Buffer.concat([tinyFilm(), Buffer.alloc(300_000, 7)])

/** A service is killed where it is held: in the middle of a copy, around the link, or around the end event. */
const STEPS = ['copy', 'before link', 'after link', 'before RunCompleted', 'after RunCompleted']

const startFiles = async (t: Test) => {
  const copies = { isHeld: false, held: 0 }
  const send = (response: ServerResponse, bytes: Buffer, path: string) => {
    // The first file of a result arrives.
    if (!copies.isHeld || path.endsWith('first')) return response.end(bytes)
    response.write(bytes.subarray(0, bytes.length / 2), () => {
      copies.held += 1
    })
  }
  return { copies, send, film: await startVendorServer(t, ({ path }, response) => void send(response, film, path)) }
}

/** A server of the API of OpenAI that offers its pictures by address, at its own origin, as LocalAI does. */
const startCompatible = async (t: Test, files: Awaited<ReturnType<typeof startFiles>>) => {
  const server = await startVendorServer(t, ({ method, path }, response) => {
    if (method === 'GET') return void files.send(response, png, path)
    const data = ['first', 'second'].map(name => ({ url: `${server.url}/files/${name}` }))
    reply(response, 200, { created: 1, data })
  })
  return server
}

const kinds = {
  sync: {
    request: { model: 'gpt-image-2-6', input: { prompt: 'a lighthouse', num_images: 2 } },
    files: 2,
    start: async (t: Test, files: Awaited<ReturnType<typeof startFiles>>) => ({
      OPENAI_API_KEY: OPENAI_KEY,
      OPENAI_BASE_URL: `${(await startCompatible(t, files)).url}/v1`,
    }),
  },
  async: {
    request: { model: 'kling-3-pro', input: { prompt: 'a lighthouse' } },
    files: 1,
    start: async (t: Test, files: Awaited<ReturnType<typeof startFiles>>) => {
      const fal = await startFal(t)
      const video = { url: `${files.film.url}/film.mp4`, content_type: 'video/mp4' }
      fal.job = { states: [COMPLETED], result: { status: 200, body: { video } } }
      return { FAL_KEY, FAL_BASE_URL: fal.url, ALLOW_PRIVATE_WEBHOOKS: 'true' }
    },
  },
}

const namesIn = (folder: string, name: string) => readdir(join(folder, 'objects', name)).catch(() => [] as string[])

const eventsOf = async ({ core }: Service, type: string) =>
  (await collect(core.log.readAll(BEFORE_FIRST))).filter(event => event.type === type)

for (const [mode, kind] of Object.entries(kinds))
  for (const step of STEPS) {
    t.test(`${mode}: a service is killed ${step === 'copy' ? 'in the middle of a copy' : step}`, async t => {
      const files = await startFiles(t)
      files.copies.isHeld = step === 'copy'
      const environment = await kind.start(t, files)
      const folder = await temporaryFolder(t)
      const [opened] = await openAccounts(folder, { credits: 10_000 })
      const variables = { DATA_DIR: folder, PORT: '0', HOLD_AT: step, ...environment }
      const victim = new ScriptProcess('test/support/holding-service-process.ts', [], variables)
      t.teardown(() => victim.end('SIGKILL'))
      const [, url = ''] = await victim.until(/"url":"([^"]+)".*"msg":"listening"/)
      const asked = opened
        .at(url)
        .run(kind.request)
        .catch(() => undefined)
      if (step === 'copy')
        await until('the copy is held', async () => {
          const outputs = await namesIn(folder, 'outputs')
          return files.copies.held > 0 && outputs.length === kind.files - 1 && (await isArriving(folder))
        })
      else await victim.until(/^held/m)
      await victim.end('SIGKILL')
      await asked
      files.copies.isHeld = false
      const left = await namesIn(folder, 'outputs')

      const clock = new ManualClock(Date.now() + TAKEN_OVER_MS)
      const service = await startService(t, { folder, clock, environment })
      const customer = opened.at(service.url)
      const [{ run_id: runId = '' } = {}] = (await customer.send<RunList>('/v1/runs')).body.data
      let run: Run | undefined
      await until('the run has ended', async () => {
        run = (await customer.send<Run>(`/v1/runs/${runId}`)).body
        return run.completed_at !== undefined
      })
      const isCompleted = mode === 'async' || step === 'after RunCompleted'
      t.match(run, isCompleted ? { status: 'completed' } : { status: 'failed', error: { code: 'interrupted' } })
      const after = await namesIn(folder, 'outputs')
      for (const name of left) t.ok(after.includes(name), 'a file of a dead process stays for now')

      clock.advance(SETTLED_MS)
      if (!isCompleted) {
        await until('the deletion is recorded', async () => (await eventsOf(service, 'RunOutputDeleted')).length === 1)
        t.same(await namesIn(folder, 'outputs'), [])
      } else {
        const [ended] = await eventsOf(service, 'RunCompleted')
        const { artifacts } = (ended as RawEvent & { data: { output: { artifacts: Artifact[] } } }).data.output
        t.same(
          (await namesIn(folder, 'outputs')).sort(),
          artifacts.map(({ objectKey }) => objectKey.split('/')[1]).sort(),
        )
        for (const { objectKey, sha256, sizeBytes } of artifacts) {
          const bytes = await readFile(join(folder, 'objects', objectKey))
          t.same([createHash('sha256').update(bytes).digest('hex'), bytes.length], [sha256, sizeBytes])
        }
        t.same(await eventsOf(service, 'RunOutputDeleted'), [])
      }
      await service.stop()
      t.same((await auditFolder(folder)).faults, [])
    })
  }

/** Whether a part of a file has arrived. A file that has arrived whole may move away at any time. */
const isArriving = async (folder: string): Promise<boolean> => {
  const paths = (await namesIn(folder, 'arriving')).map(name => join(folder, 'objects', 'arriving', name))
  const sizes = await Promise.all(
    paths.map(path =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.some(size => size > 0)
}
