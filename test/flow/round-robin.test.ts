import { EventEmitter } from 'node:events'
import t from 'tap'
import { RoundRobin } from '../../src/flow/round-robin.ts'
import type { Context } from '../../src/http/context.ts'
import { roundRobin } from '../../src/http/middleware/round-robin.ts'

/** A time that only the work of a test takes. */
const startTurns = () => {
  let nowMs = 0
  const work = (ms: number) => {
    nowMs += ms
  }
  return { turns: new RoundRobin({ monotonicMs: () => nowMs }), work }
}

t.test('turns of a client come in order, and other work is done between them', async t => {
  const { turns } = startTurns()
  const done: string[] = []
  const taken = Array.from({ length: 15 }, (_, at) => turns.next('a').then(() => done.push(`${at}`)))
  // Immediate callbacks run in order, so this one comes between the first two groups.
  setImmediate(() => done.push('other'))
  await Promise.all(taken)
  t.same(done, [...Array(10).keys(), 'other', ...[10, 11, 12, 13, 14]].map(String))
  await turns.next('a').then(() => done.push('later'))
  t.equal(done.at(-1), 'later')
})

t.test('work that takes long lets other work be done sooner', async t => {
  const { turns, work } = startTurns()
  const done: string[] = []
  const taken = ['1', '2', '3', '4'].map(async name => {
    await turns.next('a')
    // Work goes on after a promise that has resolved, as between two middlewares.
    await undefined
    work(3)
    done.push(name)
  })
  setImmediate(() => done.push('other'))
  await Promise.all(taken)
  t.same(done, ['1', '2', 'other', '3', '4'])
})

t.test('clients take turns', async t => {
  const { turns } = startTurns()
  const done: string[] = []
  const next = (queue: string, name: string) => turns.next(queue).then(() => done.push(name))
  const flood = Array.from({ length: 5 }, (_, at) => next('a', `a${at}`))
  await Promise.all([...flood, next('b', 'b0'), next('c', 'c0'), next('b', 'b1')])
  t.same(done, ['a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3', 'a4'])
})

t.test('connections that arrive go first, 100 of them before the next turn', async t => {
  const { turns } = startTurns()
  let deferrals = 0
  let isTaken = false
  const taken = turns.next('a').then(() => {
    isTaken = true
  })
  while (!isTaken) {
    turns.defer()
    deferrals++
    await new Promise(setImmediate)
  }
  await taken
  t.equal(deferrals, 1 + 100)
})

t.test('a client that leaves gives up its turns at once', async t => {
  const { turns } = startTurns()
  const done: string[] = []
  const client = new EventEmitter()
  const gone = Promise.all(Array.from({ length: 50 }, () => turns.next('a', client))).then(() => done.push('gone'))
  const next = turns.next('a', new EventEmitter()).then(() => done.push('next'))
  setImmediate(() => setImmediate(() => done.push('other')))
  client.emit('close')
  await Promise.all([gone, next])
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  t.same(done, ['gone', 'next', 'other'])
})

t.test('nothing keeps listening to a client whose turn came', async t => {
  const { turns } = startTurns()
  const client = new EventEmitter()
  for (let turn = 0; turn < 20; turn++) await turns.next('a', client)
  t.equal(client.listenerCount('close'), 0)
})

interface Sent {
  key?: string
  remoteAddress?: string
  hasLeft?: boolean
}

/** A request as far as it matters here. */
const requestOf = (url: string, { key: authorization, remoteAddress = '192.0.2.1', hasLeft = false }: Sent = {}) => {
  const req = { headers: { authorization }, socket: { remoteAddress } }
  return { url, state: {}, req, res: Object.assign(new EventEmitter(), { destroyed: hasLeft }) } as unknown as Context
}

t.test('requests take turns, and health checks go first', async t => {
  const take = roundRobin(startTurns().turns)
  const begun: string[] = []
  const request = (url: string) => take(requestOf(url), async () => void begun.push(url))
  const requests = Array.from({ length: 15 }, () => request('/v1/run'))
  const health = request('/healthz')
  t.same(begun, ['/healthz'])
  await health
  await new Promise(setImmediate)
  t.equal(begun.length, 1 + 10)
  await Promise.all(requests)
  t.equal(begun.length, 1 + 15)
})

t.test('nothing is done for a client that leaves before its turn', async t => {
  const take = roundRobin(startTurns().turns)
  const begun: boolean[] = []
  const request = (hasLeft: boolean) => take(requestOf('/v1/run', { hasLeft }), async () => void begun.push(hasLeft))
  await Promise.all([request(true), request(false)])
  t.same(begun, [false])
})

t.test('only a request that had to wait takes another turn for its answer', async t => {
  const { turns } = startTurns()
  const next = t.capture(turns, 'next', turns.next)
  const take = roundRobin(turns)
  const request = (work: () => Promise<void>) => take(requestOf('/v1/run'), work)
  const read = async () => await undefined
  await Promise.all([request(read), request(read)])
  t.equal(next().length, 2)
  await request(() => new Promise(process.nextTick))
  t.equal(next().length, 2)
})

t.test('a client is an account, or else a key or an address', async t => {
  const take = roundRobin(startTurns().turns)
  const done: string[] = []
  const request = (name: string, sent: Sent) => {
    const ctx = requestOf('/v1/run', sent)
    return take(ctx, async () => {
      done.push(name)
      ctx.state.caller = { accountId: 'acct_1' } as never
      await ctx.state.nextTurn()
      done.push(`${name} again`)
    })
  }
  await Promise.all([
    ...['1', '2'].map(name => request(name, { key: 'k' })),
    request('3', { key: 'l' }),
    ...['4', '5'].map(name => request(name, {})),
    request('6', { remoteAddress: '192.0.2.2' }),
  ])
  t.same(done.slice(0, 5), ['1', '3', '4', '6', '2'], 'four clients')
  t.same(done.slice(5, 7), ['1 again', '5'], 'and the account that they turned out to be')
})
