import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { costOf, type ProviderCostRecorded } from '../../../schemas/account-events.ts'
import type { InclusionProof } from '../../../schemas/proof.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { proveInclusion } from '../../../src/audit/proofs/inclusion.ts'
import { proveStatement } from '../../../src/audit/proofs/statement.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import { canonicalJson } from '../../../src/engine/log/hash-chain.ts'
import { checkers, needsPython } from '../../support/checkers.ts'
import { logOf } from '../../support/log-of.ts'
import { until } from '../../support/until.ts'
import { startWithCosts } from '../../support/vendor-log.ts'

const pair = generateKeyPairSync('ed25519')
const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const publicPem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()

const { customer, events: read } = await startWithCosts(t, { SEAL_EVENTS: '1', SEAL_KEY: pem })
const costs = (await read()).filter(costOf)
/** A completed run holds its cost, and a failed one is followed by it. */
const [completed, cost] = costs as [RawEvent, RawEvent]

/** A proof over HTTP, once a seal covers the event. */
const proofOf = async (eventId: string): Promise<InclusionProof> =>
  until('a seal covers the event', async () => {
    const { status, body } = await customer.send<InclusionProof>(`/v1/ledger/proof?event=${eventId}`)
    return status === 200 && body
  })
const shownProof = await proofOf((costs.at(-1) as RawEvent).id)

const events = await read()
const log = logOf(events)
const statement = await proveStatement(log, customer.accountId)
const inclusion = await proveInclusion(log, { eventId: cost.id })
const ofCompleted = await proveInclusion(log, { eventId: completed.id })

/** Whatever of a cost its customer must not see. */
const secrets = costs.flatMap(event => {
  const { salt, amountMicros = salt } = costOf(event) as ProviderCostRecorded
  return [salt, String(amountMicros)]
})

t.test('a proof and a statement show no data of a cost', async t => {
  for (const proof of [shownProof, statement, inclusion, ofCompleted]) {
    const text = JSON.stringify(proof)
    for (const secret of secrets) t.notOk(text.includes(secret), secret)
  }
  t.equal(statement.events.filter(({ dataText }) => dataText === undefined).length, 1)
  const { cost: known, ...shown } = (completed.stored ?? completed.data) as { cost: object }
  const { dataText = '' } = ofCompleted.event
  t.same(JSON.parse(dataText), { ...shown, cost: sha256(canonicalJson(known)) })
  t.ok(statement.events.some(each => each.dataText === dataText))
  t.match(inclusion.event, { metadataText: String, linkText: /"type":"ProviderCostRecorded"/ })
})

t.test('a customer sees nothing of a cost in the ledger, its export or the run', async t => {
  const { body } = await customer.send<{ data: { run_id: string }[] }>('/v1/runs')
  const paths = ['/v1/ledger', '/v1/ledger/export', '/v1/runs', '/v1/usage', `/v1/runs/${body.data[0]?.run_id}`]
  for (const path of paths) {
    const { status, text } = await customer.send(path)
    t.equal(status, 200, path)
    for (const secret of [...secrets, 'ProviderCost', '"v7"', 'USD'])
      t.notOk(text.includes(secret), `${path}: ${secret}`)
  }
})

const texts = (...proofs: object[]) => proofs.map(proof => Buffer.from(JSON.stringify(proof)))

t.test('proofs without the data of costs are right, and so are those that have them', needsPython, async t => {
  const told = { ...inclusion, event: { ...inclusion.event, dataText: canonicalJson(cost.data) } }
  for (const [name, check] of Object.entries(checkers))
    t.same(
      await check(texts(shownProof, statement, inclusion, told, ofCompleted), publicPem),
      Array(5).fill('right'),
      name,
    )
})

t.test('no other event may lack its data, and no data of a cost may be others', needsPython, async t => {
  const other = {
    ...inclusion,
    event: { ...inclusion.event, dataText: canonicalJson({ ...(cost.data as object), a: 1 }) },
  }
  const without = (index: number) => ({
    ...statement,
    events: statement.events.map((each, at) => (at === index ? { ...each, dataText: undefined } : each)),
  })
  const hidden = statement.events.flatMap(({ dataText }, index) => (dataText === undefined ? [] : [without(index)]))
  const [end] = statement.events.flatMap(({ dataText }, index) => (dataText?.includes('"cost"') ? [index] : []))
  const bare = { ...inclusion, event: { ...inclusion.event, metadataText: undefined } }
  for (const [name, check] of Object.entries(checkers)) {
    const found = await check(texts(other, bare, without(end as number), ...hidden), publicPem)
    t.equal(found.length, hidden.length + 3)
    for (const what of found) t.match(what, /do not belong together|not in the documented form/, name)
  }
})
