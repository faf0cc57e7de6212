import t from 'tap'
import { isObjectKey, MAX_DELETED } from '../../../src/ports/object-store.ts'
import { MAX_OUTPUT_FILES, OutputKeys } from '../../../src/services/files/output-keys.ts'
import { runId } from '../../support/account-samples.ts'

const keys = new OutputKeys('a master secret of 32 characters')

t.test('the key of a file follows from the master secret, the run and the index', async t => {
  const key = keys.keyOf(runId(1), 0, 'video/mp4')
  t.equal(key, 'outputs/f5bb006330232874e1544b58eb3c1cdd.mp4')
  t.equal(new OutputKeys('a master secret of 32 characters').keyOf(runId(1), 0, 'video/mp4'), key)
  const others = [
    new OutputKeys('another secret of 32 characters!').keyOf(runId(1), 0, 'video/mp4'),
    keys.keyOf(runId(2), 0, 'video/mp4'),
    keys.keyOf(runId(1), 1, 'video/mp4'),
    keys.keyOf(runId(1), 11, 'video/mp4'),
  ]
  t.equal(new Set([key, ...others]).size, 5)
  for (const each of [key, ...others]) t.ok(isObjectKey(each), each)
})

t.test('keys look random: they share no more bits than chance would have it', async t => {
  const bits = (index: number) => BigInt(`0x${keys.keyOf(runId(index), 0, 'image/png').slice(8, 40)}`)
  const ones = Array.from({ length: 128 }, () => 0)
  const count = 2_000
  for (let run = 0; run < count; run++)
    for (let bit = 0n, value = bits(run); bit < 128n; bit++)
      if ((value >> bit) & 1n) ones[Number(bit)] = (ones[Number(bit)] ?? 0) + 1
  // Six standard deviations.
  t.ok(ones.every(sum => Math.abs(sum - count / 2) < (6 * Math.sqrt(count)) / 2))
})

t.test('all keys of a run include those of every type and index, and can be deleted together', async t => {
  const all = keys.allOf(runId(1))
  t.ok(all.length <= MAX_DELETED)
  t.equal(new Set(all).size, all.length)
  for (const mimeType of ['image/png', 'image/jpeg', 'video/mp4', 'audio/mpeg', 'text/plain', 'model/obj', ''])
    for (const index of [0, MAX_OUTPUT_FILES - 1]) t.ok(all.includes(keys.keyOf(runId(1), index, mimeType)), mimeType)
  const others = new Set(keys.allOf(runId(2)))
  t.notOk(all.some(key => others.has(key)))
})
