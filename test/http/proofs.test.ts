import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { examine, parseKeys } from '#verify'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { proveConsistency, proveInclusion } from '../../src/audit/proofs/inclusion.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { collect } from '../support/collect.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const pair = generateKeyPairSync('ed25519')
const keys = parseKeys(JSON.stringify(pair.publicKey.export({ format: 'jwk' })))
const environment = {
  SEAL_EVENTS: '10',
  SEAL_KEY: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
}
const service = await startService(t, { environment, providers: { sandbox: instantProvider } })
const { log } = service.core
const [customer, other] = [await openAccount(service), await openAccount(service)]
const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }
const { body: run } = await customer.run(text)
for (let index = 0; index < 10; index++) await customer.run(text)

const events = () => collect(log.readAll(BEFORE_FIRST))
const newestSeal = (all: RawEvent[]) => all.findLast(({ type }) => type === 'LogSealed')
const coveredBy = (seal: RawEvent | undefined) => (seal?.data as { events: number } | undefined)?.events ?? 0
/** Resolves to all events once as many of them are sealed as can be. */
const sealed = () =>
  until('the log is sealed', async () => {
    const all = await events()
    return all.filter(({ stream }) => stream !== 'seals').length - coveredBy(newestSeal(all)) < 10 && all
  })

t.test('the debit of a run is proved as from the whole log, and anybody can check it', async t => {
  const number = newestSeal(await sealed())?.revision as number
  const { body, status } = await customer.send<object>(`/v1/ledger/proof?run=${run.run_id}`)
  t.equal(status, 200)
  t.match(examine(JSON.stringify(body), keys), { lines: [/^right: CreditsDebited, /], seals: [{ number }] })
  t.same(body, await proveInclusion(log, { runId: run.run_id }, { at: { number } }))
})

t.test('each sealed event of the account is proved, and no event of another', async t => {
  const all = await sealed()
  const covered = all.filter(({ stream }) => stream !== 'seals').slice(0, coveredBy(newestSeal(all)))
  const own = covered.filter(({ stream }) => stream === `account-${customer.accountId}`)
  t.ok(own.length > 20)
  for (const { id, type } of own) {
    const { body } = await customer.send<object>(`/v1/ledger/proof?event=${id}`)
    t.match(examine(JSON.stringify(body), keys).lines[0], `right: ${type}, `)
  }
  const unknown = await customer.send(`/v1/ledger/proof?event=${crypto.randomUUID()}`)
  t.match(unknown, { status: 404, body: { error: { code: 'not_found' } } })
  for (const { id } of all.filter(({ stream }) => stream !== `account-${customer.accountId}`).slice(0, 20)) {
    const { status, body } = await customer.send(`/v1/ledger/proof?event=${id}`)
    t.same({ status, ...body.error, request_id: '' }, { status: 404, ...unknown.body.error, request_id: '' })
  }
  const foreign = await other.send(`/v1/ledger/proof?run=${run.run_id}`)
  t.match(foreign, { status: 404, body: { error: { code: 'run_not_found' } } })
})

t.test('a read key gets a proof of each event but those with an address that it may not see', async t => {
  const reader = await openKey(service, customer, { scope: 'read' })
  const { body: run } = await customer.run({ ...text, input: { prompt: 'What is https://example.com/a?token=1' } })
  for (let index = 0; index < 10; index++) await customer.run(text)
  const ofRun = await until('the run is sealed', async () => {
    const all = await events()
    const covered = all.filter(({ stream }) => stream !== 'seals').slice(0, coveredBy(newestSeal(all)))
    const own = covered.filter(({ data }) => (data as { runId?: unknown }).runId === run.run_id)
    return own.some(({ type }) => type === 'RunCompleted') && own
  })
  t.same(
    ofRun.map(({ type }) => type),
    ['CreditsDebited', 'RunStarted', 'CreditsReleased', 'RunCompleted'],
  )
  for (const { id, type } of ofRun) {
    const path = `/v1/ledger/proof?event=${id}`
    t.equal((await customer.send(path)).status, 200, type)
    const { status, body } = await reader.send<ErrorBody>(path)
    if (type !== 'RunStarted') t.equal(status, 200, `${type} to a read key`)
    else t.match({ status, body }, { status: 403, body: { error: { code: 'forbidden', message: /scope "full" can/ } } })
  }
  t.equal((await reader.send(`/v1/ledger/proof?run=${run.run_id}`)).status, 200)
})

t.test('an event that no seal covers yet is refused so', async t => {
  const { body: latest } = await customer.run(text)
  const { status, body } = await customer.send(`/v1/ledger/proof?run=${latest.run_id}`)
  // The run may have made the log due for a seal.
  if (status !== 200) t.match({ status, body }, { status: 409, body: { error: { code: 'not_sealed' } } })
  const quiet = await startService(t, { providers: { sandbox: instantProvider } })
  const newcomer = await openAccount(quiet)
  const [opened] = await collect(quiet.core.log.readStream(`account-${newcomer.accountId}`, 0))
  const refused = await newcomer.send(`/v1/ledger/proof?event=${opened?.id}`)
  t.match(refused, { status: 409, body: { error: { code: 'not_sealed' } } })
})

t.test('a seal extends each earlier one, and unknown ones are named', async t => {
  const newest = newestSeal(await sealed())?.revision as number
  for (let from = 1; from < newest; from++) {
    const { body } = await customer.send<object>(`/v1/ledger/consistency?from=${from}&to=${newest}`)
    t.match(examine(JSON.stringify(body), keys).lines[0], / extends seal /)
    t.same(body, await proveConsistency(log, { number: from }, { number: newest }))
  }
  const beyond = await customer.send(`/v1/ledger/consistency?from=1&to=${newest + 1000}`)
  t.match(beyond, { status: 404, body: { error: { message: `There is no seal ${newest + 1000}.` } } })
})

t.test('a query that is none names its fault', async t => {
  for (const [path, fault] of [
    ['proof', '/event'],
    [`proof?run=${run.run_id}&event=${crypto.randomUUID()}`, '/event'],
    ['proof?event=none', '/event'],
    ['consistency?from=2&to=2', '/from'],
    ['consistency?from=0&to=2', '/from'],
    ['consistency?from=1', '/to'],
  ] as const) {
    const { status, body } = await customer.send(`/v1/ledger/${path}`)
    t.match({ status, path: body.error?.errors?.[0]?.path }, { status: 400, path: fault }, path)
  }
})

t.test('an account has one proof made at a time', async t => {
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => customer.send(`/v1/ledger/proof?run=${run.run_id}`)),
  )
  t.ok(replies.some(({ status }) => status === 200))
  for (const { status } of replies) t.ok([200, 429].includes(status))
  t.match(await customer.send(`/v1/ledger/proof?run=${run.run_id}`), { status: 200 })
})

t.test('a process without the role of a sealer proves as well', async t => {
  const folder = await temporaryFolder(t)
  const first = await startService(t, { folder, environment, providers: { sandbox: instantProvider } })
  const client = await openAccount(first)
  const { body: sealedRun } = await client.run(text)
  for (let index = 0; index < 10; index++) await client.run(text)
  await until('the run is sealed', async () => coveredBy(newestSeal(await collect(first.core.log.readAll(-1)))) > 30)
  await first.stop()
  const second = await startService(t, { folder, environment: { ROLES: 'api,projector,reactors' } })
  const { status, body } = await second.client(client.apiKey).send<object>(`/v1/ledger/proof?run=${sealedRun.run_id}`)
  t.equal(status, 200)
  t.match(examine(JSON.stringify(body), keys).lines[0], 'right: CreditsDebited, ')
})
