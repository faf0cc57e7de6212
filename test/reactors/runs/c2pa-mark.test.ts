import { readFile } from 'node:fs/promises'
import t from 'tap'
import { C2paMark } from '../../../src/reactors/runs/result-file.ts'

const signed = await readFile('test/fixtures/signed.png')

const presenceIn = (file: Buffer, pieceBytes: number) => {
  const mark = new C2paMark()
  for (let at = 0; at < file.length; at += pieceBytes) mark.update(file.subarray(at, at + pieceBytes))
  return mark.presence
}

t.test('a manifest is found however the file arrives', async t => {
  for (const pieceBytes of [1, 7, 19, 20, 21, 64, 70, signed.length]) {
    t.equal(presenceIn(signed, pieceBytes), 'present', `${pieceBytes} bytes`)
    t.equal(presenceIn(Buffer.concat([Buffer.alloc(1_000), signed.subarray(50)]), pieceBytes), 'present')
  }
})

t.test('a file without one, or that only speaks of it, has none', async t => {
  const at = signed.indexOf('jumdc2pa')
  const texts = [Buffer.from('jumb jumd c2pa'), signed.subarray(0, at + 19), Buffer.concat([signed.subarray(0, at)])]
  for (const file of [Buffer.alloc(0), ...texts])
    for (const pieceBytes of [1, 19, 20, 100_000]) t.equal(presenceIn(file, pieceBytes), 'absent')
})
