import t from 'tap'
import { makeLink } from '../../support/links.ts'
import { verified } from '../../support/verified.ts'

/** The faults of a log whose only event was caused by an actor, as somebody who can write the log would link it. */
const faultsOf = async (type: string, data: object, actor: object) => {
  const event = { id: crypto.randomUUID(), stream: 'providers', revision: 0, position: 0, type, data }
  const metadata = { format: 2, at: '2026-11-24T00:00:00.000Z', actor }
  const { link } = makeLink(undefined, { ...event, metadata })
  const found = await verified([{ ...event, metadata: { ...metadata, hash: link } }], { isDense: true })
  return found?.faults.map(({ what }) => what)
}

const binding = { endpoint: 'lumen-t2i', provider: 'fal', model: 'fal-ai/lumen' }

t.test('only an operator chooses among providers', async t => {
  for (const [type, data] of [
    ['ProviderDisabled', { provider: 'fal', reason: 'too slow' }],
    ['ProviderEnabled', { provider: 'fal' }],
    ['BindingDisabled', binding],
    ['BindingEnabled', binding],
    ['ProviderWaitEnded', { provider: 'fal', account: 'a' }],
    ['BindingsOrdered', { endpoint: 'lumen-t2i', bindings: [{ provider: 'fal', model: 'fal-ai/lumen' }] }],
  ] as const) {
    t.same(await faultsOf(type, data, { kind: 'operator', name: 'olga' }), [], type)
    t.match(await faultsOf(type, data, { kind: 'service' }), [/by the actor service, not by an operator/], type)
  }
})

t.test('an event of another shape is a fault', async t => {
  const operator = { kind: 'operator', name: 'olga' }
  t.equal((await faultsOf('ProviderDisabled', { provider: 'fal', key: 'secret' }, operator))?.length, 1)
})
