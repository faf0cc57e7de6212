import t from 'tap'
import { partOf } from '../../../src/audit/verify/part.ts'

const ACCOUNTS = 20_000
const accounts = Array.from({ length: ACCOUNTS }, (_, number) => `account-acct_${number}`)

t.test('every stream belongs to one part, and the first part has fewer of them', async t => {
  for (const parts of [1, 2, 3, 4, 5, 16]) {
    const sizes = Array.from({ length: parts }, () => 0)
    for (const account of accounts) sizes[partOf(account, parts)] = (sizes[partOf(account, parts)] as number) + 1
    const [first = 0, ...others] = sizes
    t.equal(first + others.reduce((sum, size) => sum + size, 0), ACCOUNTS, `${parts} parts`)
    const even = (ACCOUNTS - first) / (parts - 1)
    for (const size of others) t.ok(Math.abs(size - even) < even / 10, `${parts} parts: ${size} of ${even}`)
    if (parts > 1) t.ok(first < even)
  }
})

t.test('streams that refer to each other are in the first part', async t => {
  for (const stream of ['catalog', 'seals', 'periods', 'auditors', 'reads', 'other-1', ''])
    t.equal(partOf(stream, 8), 0, stream)
})
