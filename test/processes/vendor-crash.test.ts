import t from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { collect } from '../support/collect.ts'
import { dumpText } from '../support/dump.ts'
import { allRuns, auditFolder } from '../support/ledger.ts'
import { tinyFilm } from '../support/sample-files.ts'
import { openAccount, openFolder } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { anthropicKey, startAnthropic } from '../support/vendors/anthropic.ts'
import { KEY as ELEVENLABS_KEY, startElevenLabs } from '../support/vendors/elevenlabs.ts'
import { COMPLETED, FAL_KEY, startFal } from '../support/vendors/fal.ts'
import { generated, googleKey, interaction, startGoogle } from '../support/vendors/google.ts'
import { type HeldAt, holdingProxy, type Passage } from '../support/vendors/holding-proxy.ts'
import { KEY as OPENAI_KEY, startOpenAi } from '../support/vendors/openai.ts'
import { REPLICATE_KEY, startReplicate } from '../support/vendors/replicate.ts'
import { reply, startVendorServer } from '../support/vendors/vendor-server.ts'

t.setTimeout(240_000)

/** A dead process's run is checked 10 s after its start and its lease ends after 15 s; the rest is for the work. */
const ENDS = { pollMs: 200, maxWaitMs: 90_000 }

const FILM = { url: '', content_type: 'video/mp4' }

/** A model of each vendor, and how its client asks for it. A sync run is not taken over. */
const models = {
  openai: { model: 'gpt-6-1-terra', isJob: false },
  anthropic: { model: 'claude-haiku-4-5', isJob: false },
  elevenlabs: { model: 'eleven-v3', isJob: false },
  'google, an answer': { model: 'gemini-3-flash', isJob: false },
  'google, a job': { model: 'gemini-omni-flash', isJob: true },
  replicate: { model: 'gen-4-5', isJob: true },
  fal: { model: 'kling-3-pro', isJob: true },
}

const keys = {
  ...{ openai: OPENAI_KEY, anthropic: anthropicKey, google: googleKey, replicate: REPLICATE_KEY },
  ...{ fal: FAL_KEY, 'fal, its secret': FAL_KEY.split(':')[1] as string, elevenlabs: ELEVENLABS_KEY },
}

interface Victim {
  name: string
  /** The proxy holds it, or, while its result is copied, the server of files. */
  heldAt: HeldAt | 'copied'
  isJob: boolean
  passage: Passage
  runId: string
}

const startStubs = async () => {
  const copies = { areHeld: true, held: 0 }
  const files = await startVendorServer(t, (_, response) => {
    if (copies.areHeld) copies.held += 1
    else response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(tinyFilm())
  })
  const film = `${files.url}/film.mp4`
  const fal = await startFal(t)
  fal.job = {
    states: [{ status: 'IN_PROGRESS' }, COMPLETED],
    result: { status: 200, body: { video: { ...FILM, url: film } } },
  }
  const replicate = await startReplicate(t)
  replicate.models.push('runwayml/gen-4.5')
  replicate.states = [{ status: 'processing' }, { status: 'succeeded', output: film, metrics: {} }]
  let interactions = 0
  const polls = new Map<string, number>()
  const google = await startGoogle(t, ({ method, path }, response) => {
    if (path.endsWith(':generateContent')) return reply(response, 200, generated([{ text: 'hello' }]))
    const id = method === 'POST' ? `v1_${String(interactions++).padStart(40, '0')}` : path.split(/[/?]/)[3]
    const count = polls.get(String(id)) ?? 0
    polls.set(String(id), count + 1)
    const answer =
      count < 2
        ? interaction('in_progress', [], { id })
        : interaction('completed', [{ type: 'video', uri: film }], { id })
    reply(response, 200, answer)
  })
  const [openai, anthropic, elevenlabs] = [await startOpenAi(t), await startAnthropic(t), await startElevenLabs(t)]
  return { fal, replicate, google, openai, anthropic, elevenlabs, copies }
}

t.test(
  'a run of each vendor survives a kill at any step with at most one submission, one outcome and one charge',
  async t => {
    const stubs = await startStubs()
    const proxy = holdingProxy(t)
    const environment = {
      ...{ OPENAI_API_KEY: OPENAI_KEY, OPENAI_BASE_URL: await proxy.urlOf(stubs.openai.url) },
      ...{ ANTHROPIC_API_KEY: anthropicKey, ANTHROPIC_BASE_URL: await proxy.urlOf(stubs.anthropic.url) },
      ...{ GOOGLE_API_KEY: googleKey, GOOGLE_BASE_URL: await proxy.urlOf(stubs.google.url) },
      ...{ REPLICATE_API_TOKEN: REPLICATE_KEY, REPLICATE_BASE_URL: await proxy.urlOf(stubs.replicate.url) },
      ...{ FAL_KEY, FAL_BASE_URL: await proxy.urlOf(stubs.fal.url) },
      ...{ ELEVENLABS_API_KEY: ELEVENLABS_KEY, ELEVENLABS_BASE_URL: await proxy.urlOf(stubs.elevenlabs.url) },
      ...{ ALLOW_PRIVATE_WEBHOOKS: 'true', LOG_LEVEL: 'debug' },
    }
    const folder = await temporaryFolder(t)
    const core = await openFolder(folder)
    const opened = await openAccount({ core, url: 'http://localhost' }, { credits: 100_000 })
    await core.close()

    const first = await startServiceProcess(t, folder, environment)
    const customer = opened.at(first.url)
    const plans = Object.entries(models).flatMap(([name, { model, isJob }]) =>
      (['asked', 'accepted', ...(isJob ? (['polled', 'copied'] as const) : [])] as const).map(heldAt => ({
        name,
        model,
        isJob,
        heldAt,
      })),
    )
    const victims: Victim[] = await Promise.all(
      plans.map(async ({ name, model, isJob, heldAt }) => {
        const mark = `held ${heldAt} at ${name}`
        const passage = proxy.expect(mark, heldAt === 'copied' ? undefined : heldAt)
        const input = model === 'eleven-v3' ? { text: mark, voice: 'Rachel' } : { prompt: mark }
        const { status, body } = await customer.run({ model, input }, { Prefer: 'wait=1' })
        t.equal(status, 202, mark)
        return { name, heldAt, isJob, passage, runId: body.run_id }
      }),
    )
    const isHeld = ({ heldAt, passage }: Victim) => heldAt === 'copied' || passage.isHeld
    const copied = victims.filter(({ heldAt }) => heldAt === 'copied').length
    await until('all runs are held', () => victims.every(isHeld) && stubs.copies.held === copied, ENDS)
    const killed = await first.end('SIGKILL')
    stubs.copies.areHeld = false

    const second = await startServiceProcess(t, folder, environment)
    const survivor = customer.at(second.url)
    const runs = new Map<string, Run>()
    for (const { runId, name, heldAt } of victims)
      await until(
        `the run held ${heldAt} at ${name} has ended`,
        async () => {
          const { body } = await survivor.send<Run>(`/v1/runs/${runId}`)
          runs.set(runId, body)
          return body.completed_at
        },
        ENDS,
      )
    const stopped = await second.end('SIGTERM')
    t.equal(stopped.code, 0)
    const audit = await auditFolder(folder)
    t.same(audit.faults, [])
    const ended = allRuns(audit)
    for (const { name, heldAt, isJob, passage, runId } of victims)
      await t.test(`held ${heldAt} at ${name}`, async t => {
        const run = runs.get(runId) as Run
        const isFollowed = isJob && (heldAt === 'polled' || heldAt === 'copied')
        t.match(run, isFollowed ? { status: 'completed' } : { status: 'failed', error: { code: 'interrupted' } })
        t.equal(ended.get(runId)?.end, isFollowed ? 'completed' : 'failed')
        const chargedMicros = isFollowed ? run.credits_charged * 1_000_000 : 0
        t.equal(ended.get(runId)?.chargedMicros, chargedMicros, 'the net charge')
        t.equal(passage.submissions, 1, 'submissions')
      })
    await t.test('no key of a vendor is in the log, the views, the output or an answer', async t => {
      const again = await openFolder(folder)
      const events = await collect(again.log.readAll(BEFORE_FIRST))
      const views = await dumpText(again.views)
      await again.close()
      t.ok(events.length > 0 && killed.stdout !== '')
      for (const [place, content] of Object.entries({ events, views, killed, stopped, answers: [...runs.values()] }))
        for (const [vendor, key] of Object.entries(keys))
          for (const form of [key, Buffer.from(key).toString('base64'), encodeURIComponent(key)])
            t.notOk(JSON.stringify(content).includes(form), `the key of ${vendor} in ${place}`)
    })
  },
)
