import t, { type Test } from 'tap'
import type { RunAttempt } from '../../../schemas/account-events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { collect } from '../../support/collect.ts'
import { picture, tinyFilm } from '../../support/sample-files.ts'
import { openAccount, startService } from '../../support/service.ts'
import { FAL_KEY, startFal } from '../../support/vendors/fal.ts'
import { generated, googleError, googleKey, startGoogle } from '../../support/vendors/google.ts'
import { REPLICATE_KEY, startReplicate } from '../../support/vendors/replicate.ts'
import { reply, startVendorServer } from '../../support/vendors/vendor-server.ts'

/** What vendors write, which no customer may see. */
const WORDS = 'The balance of team-42 is exhausted'

const png = (await picture('png')).toString('base64')
const pictured = generated([{ inlineData: { mimeType: 'image/png', data: png } }])
const overloaded = googleError(503, 'UNAVAILABLE', WORDS)

/** A service with fal, Google and Replicate, which are asked in this order. */
const start = async (t: Test, answerOfGoogle: [status: number, body: unknown]) => {
  const [fal, replicate] = [await startFal(t), await startReplicate(t)]
  const google = await startGoogle(t, (_, response) => reply(response, ...answerOfGoogle))
  const environment = {
    ...{ FAL_KEY, FAL_BASE_URL: fal.url, GOOGLE_API_KEY: googleKey, GOOGLE_BASE_URL: google.url },
    ...{ REPLICATE_API_TOKEN: REPLICATE_KEY, REPLICATE_BASE_URL: replicate.url },
    ALLOW_PRIVATE_WEBHOOKS: 'true',
  }
  const service = await startService(t, { environment })
  const customer = await openAccount(service, { credits: 1_000 })
  const ask = async (model: string) => {
    const before = (await collect(service.core.log.readAll(BEFORE_FIRST))).length
    const { body } = await customer.run({ model, input: { prompt: 'a red dot' } }, { Prefer: 'wait=60' })
    const events = (await collect(service.core.log.readAll(BEFORE_FIRST))).slice(before)
    return { body, events: events.filter(({ stream }) => stream.startsWith('account-')) }
  }
  return { fal, replicate, ask, faults: async () => (await verifyLog(service.core.log, { isDense: true }))?.faults }
}

const typesOf = (events: RawEvent[]) => events.map(({ type }) => type)

const dataOf = (events: RawEvent[], wanted: string) =>
  events.find(({ type }) => type === wanted)?.data as { attempts?: RunAttempt[]; storingMs?: number; upstream: object }

/** The attempts without their times, which must follow one another. */
const shownIn = (t: Test, { attempts = [] }: { attempts?: RunAttempt[] }) => {
  const times = attempts.flatMap(({ startedAt, failedAt }) => [
    startedAt,
    ...(failedAt === undefined ? [] : [failedAt]),
  ])
  t.same(times, times.toSorted(), 'one after the other')
  return attempts.map(({ startedAt: _, failedAt, model: __, account: ___, ...attempt }) => ({
    ...attempt,
    hasFailed: failedAt !== undefined,
  }))
}

t.test('the end of a run tells which provider did not take it, in the appends that it has anyway', async t => {
  const { fal, ask, faults } = await start(t, [200, pictured])
  fal.fault = { status: 429, body: { detail: WORDS } }
  const { body, events } = await ask('nano-banana-2')
  t.match(body, { status: 'completed', provider: 'google' })
  t.same(typesOf(events), ['CreditsDebited', 'RunStarted', 'RunCompleted'])
  const end = dataOf(events, 'RunCompleted')
  t.same(shownIn(t, end), [
    { provider: 'fal', status: 429, reason: 'rate_limited', hasFailed: true },
    { provider: 'google', hasFailed: false },
  ])
  t.match(end.upstream, { provider: 'google' })
  t.ok(Number.isInteger(end.storingMs))
  t.notMatch(JSON.stringify(events), WORDS)
  t.same(await faults(), [])
})

t.test('a text whose first provider takes it adds nothing to its events', async t => {
  const { ask } = await start(t, [200, generated([{ text: 'Yes.' }])])
  const { body, events } = await ask('gemini-3-flash')
  t.match(body, { status: 'completed', provider: 'google' })
  const end = dataOf(events, 'RunCompleted')
  t.notOk('attempts' in end || 'storingMs' in end)
})

t.test('the event of an accepted job tells which provider did not take it', async t => {
  const { fal, replicate, ask, faults } = await start(t, [503, overloaded])
  const files = await startVendorServer(t, (_, response) =>
    response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(tinyFilm()),
  )
  fal.fault = { status: 500, body: { detail: WORDS } }
  replicate.models.push('kwaivgi/kling-v3-video')
  replicate.states = [{ status: 'succeeded', output: `${files.url}/film.mp4`, metrics: {} }]
  const { body, events } = await ask('kling-3-pro')
  t.match(body, { status: 'completed', provider: 'replicate' })
  t.same(shownIn(t, dataOf(events, 'RunSubmitted')), [
    { provider: 'fal', status: 500, reason: 'overloaded', hasFailed: true },
    { provider: 'replicate', hasFailed: false },
  ])
  t.notOk('attempts' in dataOf(events, 'RunCompleted'))
  t.ok(dataOf(events, 'RunCompleted').storingMs !== undefined)
  t.same(await faults(), [])
})

t.test('a run that no provider takes names all attempts, and no trouble of the operator’s accounts', async t => {
  const { fal, replicate, ask, faults } = await start(t, [503, overloaded])
  fal.fault = { status: 402, body: { detail: WORDS } }
  replicate.fault = { status: 401, body: { detail: WORDS } }
  const { body, events } = await ask('nano-banana-2')
  t.match(body, { status: 'failed', error: { code: 'provider_error', message: 'The provider is not available now.' } })
  t.same(typesOf(events), ['CreditsDebited', 'RunStarted', 'RunFailed', 'CreditsRefunded'])
  const google = { provider: 'google', status: 503, reason: 'overloaded', hasFailed: true }
  // Accounts that are refused rest, and the model is tried twice again.
  t.same(shownIn(t, dataOf(events, 'RunFailed')), [
    { provider: 'fal', reason: 'provider_error', hasFailed: true },
    google,
    { provider: 'replicate', reason: 'provider_error', hasFailed: true },
    ...[google, google, google, google, google],
  ])
  t.notMatch(JSON.stringify(events), WORDS)
  t.same(await faults(), [])
})

t.test('a provider that refuses the input is named with its status', async t => {
  const { fal, ask } = await start(t, [200, pictured])
  fal.fault = { status: 422, body: { detail: [{ loc: ['body', 'prompt'], msg: 'Too short', type: 'value_error' }] } }
  const { body, events } = await ask('nano-banana-2')
  t.match(body, { status: 'failed', error: { code: 'invalid_input' } })
  t.same(shownIn(t, dataOf(events, 'RunFailed')), [
    { provider: 'fal', status: 422, reason: 'invalid_input', hasFailed: true },
  ])
})
