import t from 'tap'
import { brandStyle, colorFault } from '../../src/console/brand.ts'

t.test('a colour that is too light for text is a fault', async t => {
  t.match(colorFault('#ffcc00'), /has a contrast of 1\.\d .* use a darker colour/)
  t.match(colorFault('#ffffff'), /contrast of 1\.1/)
  for (const color of ['#0b6b5c', '#000000', '#b3261e', '#1d4ed8']) t.equal(colorFault(color), undefined, color)
})

t.test('dark pages get a tint of the colour', async t => {
  t.match(
    brandStyle({ color: '#000000' }),
    /prefers-color-scheme:dark\)\{:root\{--accent:#(8|9|a)/,
    'black becomes grey',
  )
  t.match(brandStyle({ color: '#1d4ed8' }), /^:root\{--accent:#1d4ed8;/)
  t.equal(brandStyle({ color: undefined }), '')
})
