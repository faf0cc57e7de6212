import t from 'tap'
import { endingFor, mimeTypeOf } from '../../../src/domain/media-types.ts'
import type { Inspected } from '../../../src/services/uploads/inspection.ts'
import { declaredType, faultOf, sendingFault, takenTypes } from '../../../src/services/uploads/upload-rules.ts'

const file: Inspected = { sizeBytes: 3, sha256: '', mimeType: 'image/png', alsoIs: undefined, isCutOff: false }

t.test('a declared type is taken in any spelling, and by its registered name', async t => {
  for (const type of takenTypes) t.equal(declaredType(type), type)
  t.equal(declaredType(' IMAGE/PNG ; charset=utf-8'), 'image/png')
  t.equal(declaredType('image/jpg'), 'image/jpeg')
  t.equal(declaredType('Image/JPG;q=1'), 'image/jpeg')
  t.equal(declaredType('video/x-m4v'), 'video/mp4')
})

t.test('a type that says nothing is none', async t => {
  for (const type of [undefined, '', ';', ' ;a=b', 'application/octet-stream', 'Binary/Octet-Stream'])
    t.equal(declaredType(type), undefined, String(type))
})

t.test('a type that is not taken is refused', async t => {
  for (const type of ['image/svg+xml', 'text/html', 'image/*', 'image/pngx', 'png'])
    t.throws(
      () => declaredType(type),
      { code: 'unsupported_media_type', message: /image\/png, .*video\/quicktime/ },
      type,
    )
  t.throws(() => declaredType('Text/"HTML"; x'), { message: /^"text\/\\"html\\"" is declared/ })
})

t.test('each type that is taken has an ending that tells of it', async t => {
  for (const type of takenTypes) t.equal(mimeTypeOf(`x.${endingFor(type)}`), type)
})

t.test('a file that is what it was declared to be has no fault', async t => {
  for (const type of takenTypes) t.equal(faultOf({ ...file, mimeType: type }, type), undefined)
})

t.test('a file has a fault that is told', async t => {
  const faults: [Partial<Inspected>, RegExp][] = [
    [{ sizeBytes: 0, mimeType: undefined }, /^The file is empty\.$/],
    [{ mimeType: undefined }, /^The file is nothing that is known, but only/],
    [{ mimeType: 'image/svg+xml' }, /^The file is image\/svg\+xml, but only these types are taken: image\/png, /],
    [{ mimeType: 'image/jpeg' }, /^The file is image\/jpeg, but was declared as image\/png\.$/],
    [{ isCutOff: true }, /^The file is image\/png, but its end is missing/],
    [{ alsoIs: 'a web page' }, /^The file is image\/png and a web page at once\.$/],
  ]
  for (const [change, message] of faults) t.match(faultOf({ ...file, ...change }, 'image/png'), message)
  t.ok(faultOf({ ...file, mimeType: 'text/html' }, 'text/html'), 'declaring it helps nobody')
  t.equal(faultOf(file, undefined), undefined, 'nothing need be declared')
  t.match(faultOf({ ...file, mimeType: 'text/html' }, undefined), /only these types are taken/)
})

t.test('what is sent straight to the store is sent as what it was declared to be, or as nothing', async t => {
  for (const type of [undefined, '', 'application/octet-stream', 'binary/octet-stream', 'image/png', 'Image/PNG; a=b'])
    t.equal(sendingFault(type, 'image/png'), undefined, String(type))
  t.equal(sendingFault('image/jpg', 'image/jpeg'), undefined)
  for (const type of ['text/html', 'image/jpeg', 'image/svg+xml', 'application/x-www-form-urlencoded'])
    t.match(sendingFault(type, 'image/png'), /Send it with Content-Type: image\/png/, type)
})
