import t from 'tap'
import { illFormedPlace } from '../../../src/domain/catalog/validity.ts'

t.test('the place of half a surrogate pair is found in texts and names', async t => {
  const half = '\udc00'
  t.equal(illFormedPlace({ a: [1, null, 'ß', '💡', { b: half }] }), '/a/4/b')
  t.equal(illFormedPlace({ a: { [half]: 1 } }), '/a/\ufffd')
  t.equal(illFormedPlace(half), '')
  t.equal(illFormedPlace({ '💡': ['💡', true], none: undefined }), undefined)
})
