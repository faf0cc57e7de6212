import t from 'tap'
import { LargeFiles } from '../../../src/adapters/provider/large-files.ts'
import { isFileAddress, outputFile } from '../../../src/adapters/provider/output-file.ts'
import { valuesAt } from '../../../src/adapters/provider/output-path.ts'

const result = { images: [{ url: 'a' }, { url: 'b' }, null, 'c'], video: { url: 'd' }, audio: 'e', deep: [[{ x: 1 }]] }

t.test('a path leads to values, and skips what is absent', async t => {
  const cases: [string, unknown[]][] = [
    ['', [result]],
    ['audio', ['e']],
    ['video.url', ['d']],
    ['images.*.url', ['a', 'b']],
    ['deep.*.*.x', [1]],
    ['images.url', []],
    ['video.*', []],
    ['video.url.length', []],
    ['nothing.url', []],
    ['constructor', []],
    ['__proto__', []],
    ['images.length', []],
  ]
  for (const [path, values] of cases)
    t.same(
      valuesAt(result, path).map(({ value }) => value),
      values,
      path,
    )
  t.equal(valuesAt(result, 'video.url')[0]?.parent, result.video)
  for (const nothing of [null, undefined, 'text', 7]) t.same(valuesAt(nothing, 'a.*'), [])
})

t.test('a file has the stated type, that of its name, or the default', async t => {
  const cases: [unknown, unknown, string | undefined][] = [
    ['https://a.b/1.png', 'image/webp', 'image/webp'],
    ['https://a.b/1.png', 'IMAGE/JPG; q=1', 'image/jpeg'],
    ['https://a.b/1.PNG?x=.mp4', undefined, 'image/png'],
    ['https://a.b/1.jpeg', 'application/octet-stream', 'image/jpeg'],
    ['https://a.b/1.png', 'text/html', 'image/png'],
    ['https://a.b/1.png', 7, 'image/png'],
    ['http://a.b/1', '', 'video/mp4'],
    ['data:image/gif;base64,R0lGODlh', undefined, 'image/gif'],
    ['data:;base64,R0lGODlh', 'image/gif', 'image/gif'],
    ['data:image/gif;base64,', undefined, undefined],
    ['data:text/html,hello', undefined, undefined],
    ['ftp://a.b/1.png', undefined, undefined],
    ['/1.png', undefined, undefined],
    ['https://', undefined, undefined],
    [undefined, undefined, undefined],
    [{ url: 'https://a.b/1.png' }, undefined, undefined],
  ]
  for (const [address, stated, mimeType] of cases)
    t.equal(outputFile(address, new LargeFiles(), stated, 'video/mp4')?.mimeType, mimeType, String(address))
  t.equal(outputFile('https://a.b/1', new LargeFiles())?.mimeType, 'application/octet-stream')
})

t.test('an address is told from other text', async t => {
  for (const text of ['https://a.b/1', 'data:image/png;base64,AA==']) t.ok(isFileAddress(text), text)
  for (const text of ['https', 'see https://a.b', 'data', '', 'javascript:alert(1)']) t.notOk(isFileAddress(text), text)
})
