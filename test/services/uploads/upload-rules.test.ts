import t from 'tap'
import { extensionFor, mimeTypeOf } from '../../../src/domain/media-types.ts'
import type { ContentRefusal } from '../../../src/domain/refusal.ts'
import type { InspectionResult } from '../../../src/services/uploads/inspection.ts'
import {
  acceptedTypes,
  contentRefusal,
  declaredType,
  sentTypeRefusal,
} from '../../../src/services/uploads/upload-rules.ts'

const file: InspectionResult = { sizeBytes: 3, sha256: '', mimeType: 'image/png', alsoIs: undefined, isCutOff: false }

t.test('a declared type is accepted in any spelling, and by its registered name', async t => {
  for (const type of acceptedTypes) t.same(declaredType(type), { value: type })
  t.same(declaredType(' IMAGE/PNG ; charset=utf-8'), { value: 'image/png' })
  t.same(declaredType('image/jpg'), { value: 'image/jpeg' })
  t.same(declaredType('Image/JPG;q=1'), { value: 'image/jpeg' })
  t.same(declaredType('video/x-m4v'), { value: 'video/mp4' })
  t.same(declaredType('image/pjpeg'), { value: 'image/jpeg' })
  t.same(declaredType('video/mov'), { value: 'video/quicktime' })
})

t.test('a type that stands for any bytes counts as none', async t => {
  for (const type of [undefined, '', ';', ' ;a=b', 'application/octet-stream', 'Binary/Octet-Stream'])
    t.same(declaredType(type), { value: undefined }, String(type))
})

t.test('other types are refused', async t => {
  for (const declared of ['image/svg+xml', 'text/html', 'image/*', 'image/pngx', 'png'])
    t.same(declaredType(declared), { refuse: { code: 'declared_type_not_accepted', declared } })
  t.match(declaredType('Text/"HTML"; x'), { refuse: { declared: 'text/"html"' } })
})

t.test('each accepted type has a file name extension', async t => {
  for (const type of acceptedTypes) t.equal(mimeTypeOf(`x.${extensionFor(type)}`), type)
})

t.test('a file of its declared type is accepted', async t => {
  for (const type of acceptedTypes) t.equal(contentRefusal({ ...file, mimeType: type }, type), undefined)
})

t.test('other files are refused', async t => {
  const refusals: [Partial<InspectionResult>, ContentRefusal][] = [
    [{ sizeBytes: 0, mimeType: undefined }, { code: 'file_empty' }],
    [{ mimeType: undefined }, { code: 'file_type_not_accepted' }],
    [{ mimeType: 'image/svg+xml' }, { code: 'file_type_not_accepted', mimeType: 'image/svg+xml' }],
    [{ mimeType: 'image/jpeg' }, { code: 'file_type_mismatch', mimeType: 'image/jpeg', declared: 'image/png' }],
    [{ isCutOff: true }, { code: 'file_truncated', mimeType: 'image/png' }],
    [{ alsoIs: 'a web page' }, { code: 'file_ambiguous', mimeType: 'image/png', alsoIs: 'a web page' }],
  ]
  for (const [change, refusal] of refusals) t.same(contentRefusal({ ...file, ...change }, 'image/png'), refusal)
  const html = { ...file, mimeType: 'text/html' }
  t.match(contentRefusal(html, 'text/html'), { code: 'file_type_not_accepted' }, 'declaring the type does not help')
  t.match(contentRefusal(html, undefined), { code: 'file_type_not_accepted' })
  t.equal(contentRefusal(file, undefined), undefined, 'no type has to be declared')
})

t.test('a file goes to the object store under its declared type, or under none', async t => {
  for (const type of [undefined, '', 'application/octet-stream', 'binary/octet-stream', 'image/png', 'Image/PNG; a=b'])
    t.equal(sentTypeRefusal(type, 'image/png'), undefined, String(type))
  t.equal(sentTypeRefusal('image/jpg', 'image/jpeg'), undefined)
  for (const sentAs of ['text/html', 'image/jpeg', 'image/svg+xml', 'application/x-www-form-urlencoded'])
    t.same(sentTypeRefusal(sentAs, 'image/png'), { code: 'file_sent_as_other_type', sentAs, declared: 'image/png' })
})
