import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openFileSealSink } from '../../../src/adapters/seal-sink/file.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import type { SealCopy, SealPlace } from '../../../src/ports/seal-sink.ts'
import { sealCopies } from '../../support/seal-copies.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const open = async (t: Test, content?: string) => {
  const path = join(await temporaryFolder(t), 'seals.jsonl')
  if (content !== undefined) await writeFile(path, content)
  return { path, sink: openFileSealSink(path), text: () => readFile(path, 'utf8') }
}

const linesOf = (seals: SealCopy[]) => seals.map(({ text }) => `${text}\n`).join('')

const placeOf = ({ number, link }: SealCopy): SealPlace => ({ number, link })

const [one, two, three] = sealCopies(1, 2, 4) as [SealCopy, SealCopy, SealCopy]

t.test('a new file is for its owner only, and gets a line for each seal', async t => {
  const { path, sink, text } = await open(t)
  t.equal(await sink.last(), undefined)
  t.equal((await stat(path)).mode & 0o777, 0o600)
  await sink.append([one], undefined)
  await sink.append([two, three], one)
  t.equal(await text(), linesOf([one, two, three]))
  t.same(await openFileSealSink(path).last(), placeOf(three))
})

t.test('a line that a crash cut off anywhere is completed, and nothing before it is touched', async t => {
  const whole = linesOf([two])
  for (let cut = 0; cut < whole.length; cut++) {
    const { sink, text } = await open(t, linesOf([one]) + whole.slice(0, cut))
    const last = await sink.last()
    t.same(last, placeOf(one), `${cut} characters`)
    await sink.append([two, three], last)
    t.equal(await text(), linesOf([one, two, three]), `${cut} characters`)
  }
})

t.test('the very first line may be cut off too', async t => {
  const { sink, text } = await open(t, one.text.slice(0, 20))
  t.equal(await sink.last(), undefined)
  await sink.append([one], undefined)
  t.equal(await text(), linesOf([one]))
})

t.test('bytes that were never written, which a crash of the machine leaves, are replaced', async t => {
  for (const left of ['\0'.repeat(300), `${two.text.slice(0, 30)}${'\0'.repeat(50)}`, `${'\0'.repeat(40)}"}\n`]) {
    const { sink, text } = await open(t, linesOf([one]) + left)
    const last = await sink.last()
    t.same(last, placeOf(one))
    await sink.append([two], last)
    t.equal(await text(), linesOf([one, two]))
  }
})

t.test('a file with many seals is read from its end', async t => {
  const many = sealCopies(...Array.from({ length: 20_000 }, (_, number) => number))
  const { sink } = await open(t, linesOf(many))
  t.same(await sink.last(), placeOf(many.at(-1) as SealCopy))
})

t.test('a file that another process extends is not written to until it is read again', async t => {
  const { path, sink, text } = await open(t)
  await sink.append([one], await sink.last())
  await openFileSealSink(path).append([two], one)
  await t.rejects(sink.append([two, three], one), { name: 'Unavailable', message: /give each process its own file/ })
  t.equal(await text(), linesOf([one, two]))
  await sink.append([three], await sink.last())
  t.equal(await text(), linesOf([one, two, three]))
})

t.test('a file of something else is never changed', async t => {
  for (const content of ['hello\n', `${linesOf([one])}{}\n`, `${linesOf([one])}\n`, 'x'.repeat(2_000_000)]) {
    const { sink, text } = await open(t, content)
    await t.rejects(sink.last(), Damaged)
    await t.rejects(sink.append([one], undefined), Damaged)
    t.equal(await text(), content)
  }
  const { sink, text } = await open(t, 'hello')
  t.equal(await sink.last(), undefined)
  await t.rejects(sink.append([one], undefined), { name: 'Damaged', message: /does not begin seal 1/ })
  t.equal(await text(), 'hello')
})

t.test('a file that cannot be opened is unavailable', async t => {
  const { path } = await open(t, linesOf([one]))
  await t.rejects(openFileSealSink(join(path, 'x')).last(), Unavailable)
  await t.rejects(openFileSealSink(join(path, '..', 'missing', 'x')).last(), Unavailable)
  await chmod(path, 0o000)
  if (process.getuid?.() !== 0) await t.rejects(openFileSealSink(path).last(), Unavailable)
})
