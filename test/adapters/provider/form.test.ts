import t from 'tap'
import { encodeForm, toUpload } from '../../../src/adapters/provider/form.ts'

const picture = Buffer.alloc(1_000_001, 'picture')

t.test('a form can be read as it was made, and has the stated length', async t => {
  const form = new FormData()
  const odd = 'a "quoted"\r\nname'
  form.append('prompt', 'süß\n--form-\r\nend')
  form.append(odd, 'x')
  form.append('image[]', await toUpload({ mimeType: 'image/png', bytes: picture }))
  form.append('image[]', new File([], 'empty "file".png'))
  const { contentType, sizeBytes, body } = encodeForm(form)
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  t.ok(pieces.every(({ byteLength }) => byteLength <= 192 * 1024))
  const bytes = Buffer.concat(pieces)
  t.equal(bytes.length, sizeBytes)
  const read = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
  t.same([...read.keys()], ['prompt', odd, 'image[]', 'image[]'])
  t.equal(read.get('prompt'), 'süß\r\n--form-\r\nend')
  const [file, empty] = read.getAll('image[]') as File[]
  t.match(file, { name: 'file.png', type: 'image/png' })
  t.ok(file && picture.equals(Buffer.from(await file.arrayBuffer())))
  t.match(empty, { name: 'empty "file".png', type: 'application/octet-stream', size: 0 })
})

t.test('other work has its turns while a file is written', async t => {
  const form = new FormData()
  form.append('image', await toUpload({ mimeType: 'image/png', bytes: picture }))
  let turns = 0
  let isWriting = true
  const work = () => {
    turns++
    if (isWriting) setImmediate(work)
  }
  setImmediate(work)
  for await (const piece of encodeForm(form).body) t.ok(piece.byteLength > 0)
  isWriting = false
  t.ok(turns >= 6, `${turns} turns`)
})
