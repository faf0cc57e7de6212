import { EventEmitter } from 'node:events'
import t from 'tap'
import { OpenCounts } from '../../src/flow/open-counts.ts'

const open = () => Object.assign(new EventEmitter(), { destroyed: false })

t.test('each key is full at its limit, until something closes', async t => {
  const counts = new OpenCounts<string>(10)
  const [first, second] = [open(), open()]
  t.ok(counts.add('a', first, 9))
  t.ok(counts.add('a', second, 5), 'the last one may pass the limit')
  t.ok(counts.isFull('a'))
  t.notOk(counts.add('a', open()))
  t.ok(counts.add('b', open()))
  first.emit('close')
  t.notOk(counts.isFull('a'))
})

t.test('what has closed already is not counted', async t => {
  const counts = new OpenCounts<string>(1)
  t.ok(counts.add('a', Object.assign(open(), { destroyed: true })))
  t.notOk(counts.isFull('a'))
})

t.test('no key has more open than is left free of the total', async t => {
  const counts = new OpenCounts<string>(10, 16)
  const openAll = (key: string) => {
    const closes: (() => void)[] = []
    for (let close = counts.open(key); close; close = counts.open(key)) closes.push(close)
    return closes
  }
  const first = openAll('a')
  t.equal(first.length, 8, 'half of the total')
  t.notOk(counts.isAtLimit('a'))
  t.equal(openAll('b').length, 4, 'half of the rest')
  t.ok(counts.open('c'), 'there is room for others')
  for (const close of first) close()
  t.equal(openAll('b').length, 4)
})
