import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ErrorCode } from '../../schemas/api/error.ts'
import { errorStatus } from '../../schemas/api/error.ts'
import { MAX_FILENAME_LENGTH, MAX_FOLDER_LENGTH, MAX_INLINE_BYTES } from '../../schemas/primitives.ts'
import { filePart, formOf, formType, sendForm, textPart, upload } from '../support/multipart.ts'
import { picture, zipArchive } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder })
const customer = await openAccount(service)
const png = await picture('png')
const file = filePart(png)

const leftovers = () => readdir(join(folder, 'objects', 'arriving'))

/** Asserts that a form is refused with this fault path and leaves nothing behind. */
const refuses = async (t: Test, code: ErrorCode, path: string | undefined, ask: () => ReturnType<typeof upload>) => {
  const head = await service.core.log.head()
  const { status, body } = await ask()
  t.equal(status, errorStatus[code])
  t.equal(body.error?.code, code)
  t.same([...new Set(body.error?.errors?.map(fault => fault.path))], path === undefined ? [] : [path])
  t.equal(await service.core.log.head(), head, 'nothing was recorded')
  t.same(await leftovers(), [], 'nothing is left')
}

const named = (parameter: string) => filePart(png, 'image/png', parameter)
const inFolder = (path: string) => textPart('folder_path', path)
const whole = formOf(file)
const afterBoundary = formOf(inFolder('a')).subarray(formOf().length - 4)

const forms: Record<string, [ErrorCode, string | undefined, () => ReturnType<typeof upload>]> = {
  'no parts': ['invalid_request', '/file', () => upload(customer)],
  'no file': ['invalid_request', '/file', () => upload(customer, inFolder('photos'))],
  'two files': ['invalid_request', '/file', () => upload(customer, file, file)],
  'two folders': ['invalid_request', '/folder_path', () => upload(customer, inFolder('a'), file, inFolder('a'))],
  'an unknown part': ['invalid_request', '/colour', () => upload(customer, file, textPart('colour', 'red'))],
  'an internal field name as a part': [
    'invalid_request',
    '/filename',
    () => upload(customer, textPart('filename', 'a')),
  ],
  'a part named like an object property': [
    'invalid_request',
    '/__proto__',
    () => upload(customer, textPart('__proto__', 'a'), file),
  ],
  'a name in another case': ['invalid_request', '/File', () => upload(customer, textPart('File', 'a'))],
  'a part without a name': [
    'invalid_multipart',
    undefined,
    () => upload(customer, { headers: 'Content-Disposition: form-data', body: png }),
  ],
  'a part without headers': ['invalid_multipart', undefined, () => upload(customer, { headers: '', body: png })],
  'an empty file': ['unsupported_media_type', undefined, () => upload(customer, filePart(''))],
  'text instead of a file': ['invalid_request', '/file', () => upload(customer, textPart('file', 'lake.jpg'))],
  'text in a part without a name, longer than a head': [
    'invalid_request',
    '/file',
    () => upload(customer, textPart('file', 'a'.repeat(10_000))),
  ],
  'no file name, and another type than the content': [
    'unsupported_media_type',
    undefined,
    () => upload(customer, filePart(png, 'image/jpeg', 'x=y')),
  ],
  'an unsupported type': ['unsupported_media_type', undefined, () => upload(customer, filePart(png, 'text/html'))],
  'a truncated file': ['unsupported_media_type', undefined, () => upload(customer, filePart(png.subarray(0, -13)))],
  'an SVG': ['unsupported_media_type', undefined, () => upload(customer, filePart(SVG, 'image/svg+xml'))],
  'an SVG declared as PNG': ['unsupported_media_type', undefined, () => upload(customer, filePart(SVG))],
  'a PNG declared as JPEG': ['unsupported_media_type', undefined, () => upload(customer, filePart(png, 'image/jpeg'))],
  'an unknown type': ['unsupported_media_type', undefined, () => upload(customer, filePart('hello'))],
  'a PNG that is also a ZIP archive': [
    'unsupported_media_type',
    undefined,
    () => upload(customer, filePart(Buffer.concat([png, zipArchive()]))),
  ],
  'an empty file name': ['invalid_request', '/filename', () => upload(customer, named('filename=""'))],
  'a file name that is a folder': ['invalid_request', '/filename', () => upload(customer, named('filename="a/"'))],
  'the parent folder as a file name': ['invalid_request', '/filename', () => upload(customer, named('filename=".."'))],
  'a file name with a control character': [
    'invalid_request',
    '/filename',
    () => upload(customer, named('filename="a\u0000.png"')),
  ],
  'a file name with an encoded control character': [
    'invalid_request',
    '/filename',
    () => upload(customer, named("filename*=UTF-8''a%0d%0a.png")),
  ],
  'a file name that is too long': [
    'invalid_request',
    '/filename',
    () => upload(customer, named(`filename="${'a'.repeat(MAX_FILENAME_LENGTH + 1)}"`)),
  ],
  'a file name of 1,000 characters': [
    'invalid_request',
    '/filename',
    () => upload(customer, named(`filename="${'猫'.repeat(1000)}"`)),
  ],
  'a parent folder': ['invalid_request', '/folder_path', () => upload(customer, file, inFolder('a/../b'))],
  'a parent folder, before the file': ['invalid_request', '/folder_path', () => upload(customer, inFolder('..'), file)],
  'a folder with a control character': [
    'invalid_request',
    '/folder_path',
    () => upload(customer, file, inFolder('a\n')),
  ],
  'a folder of 2,000 characters': [
    'invalid_request',
    '/folder_path',
    () => upload(customer, file, inFolder('a'.repeat(2000))),
  ],
  'a folder one character too long': [
    'invalid_request',
    '/folder_path',
    () => upload(customer, file, inFolder('a'.repeat(MAX_FOLDER_LENGTH + 1))),
  ],
  'a folder of a megabyte': [
    'invalid_request',
    '/folder_path',
    () => upload(customer, file, inFolder('a'.repeat(2 ** 20))),
  ],
  'one byte too many': [
    'payload_too_large',
    undefined,
    () => upload(customer, filePart(Buffer.concat([png, Buffer.alloc(MAX_INLINE_BYTES + 1 - png.length)]))),
  ],
  'far too many bytes': [
    'payload_too_large',
    undefined,
    () => upload(customer, filePart(Buffer.alloc(30 * 1024 * 1024))),
  ],
  'far too many bytes around the file': [
    'payload_too_large',
    undefined,
    () => sendForm(customer, Buffer.concat([Buffer.alloc(MAX_INLINE_BYTES + 2 ** 17), whole])),
  ],
  'part headers that are too long': [
    'invalid_multipart',
    undefined,
    () => upload(customer, { ...file, headers: `X-A: ${'a'.repeat(2 ** 20)}\r\n${file.headers}` }),
  ],
  'a part header without a name': [
    'invalid_multipart',
    undefined,
    () => upload(customer, { ...file, headers: `x\r\n${file.headers}` }),
  ],
  'part headers without an end': [
    'invalid_multipart',
    undefined,
    () =>
      sendForm(
        customer,
        Buffer.concat([whole.subarray(0, -4), Buffer.from('\r\nContent-Disposition: form-data\r\n'), formOf()]),
      ),
  ],
  'a boundary with trailing characters': [
    'invalid_multipart',
    undefined,
    () => sendForm(customer, Buffer.concat([whole.subarray(0, -4), Buffer.from('x'), afterBoundary])),
  ],
  'a body with another content type': ['unsupported_media_type', undefined, () => sendForm(customer, png, 'image/png')],
  'a body without a content type': ['unsupported_media_type', undefined, () => sendForm(customer, whole, '')],
  'another kind of multipart': [
    'unsupported_media_type',
    undefined,
    () => sendForm(customer, whole, formType.replace('form-data', 'mixed')),
  ],
  'no boundary': ['invalid_multipart', undefined, () => sendForm(customer, whole, 'multipart/form-data')],
  'an empty boundary': [
    'invalid_multipart',
    undefined,
    () => sendForm(customer, whole, 'multipart/form-data; boundary='),
  ],
  'another boundary': ['invalid_multipart', undefined, () => sendForm(customer, whole, `${formType}x`)],
  'a boundary that is a prefix of the real one': [
    'invalid_multipart',
    undefined,
    () => sendForm(customer, whole, formType.slice(0, -1)),
  ],
  'an empty body': ['invalid_multipart', undefined, () => sendForm(customer, new Uint8Array())],
  'a body that is not multipart': [
    'invalid_multipart',
    undefined,
    () => sendForm(customer, Buffer.from('{"file":"a"}')),
  ],
  'Unix line endings': [
    'invalid_multipart',
    undefined,
    () => sendForm(customer, Buffer.from(whole.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')),
  ],
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

for (const [name, [code, path, ask]] of Object.entries(forms))
  t.test(`${name}: ${code}`, t => refuses(t, code, path, ask))

t.test('a form truncated at any point is refused', async t => {
  for (let length = 0; length < whole.length - '--\r\n'.length; length += 5)
    await refuses(t, 'invalid_multipart', undefined, () => sendForm(customer, whole.subarray(0, length)))
})

t.test('the error for an oversized file names the presigned upload', async t => {
  const { body } = await upload(customer, filePart(Buffer.alloc(MAX_INLINE_BYTES + 1)))
  t.match(body.error.message, 'POST /v1/uploads/presigned')
})

t.test('the message about a boundary says what to do', async t => {
  const messageOf = async (type: string) => (await sendForm(customer, whole, type)).body.error.message
  t.match(await messageOf('multipart/form-data'), /no boundary; let your HTTP client set this header/)
  t.match(await messageOf('multipart/form-data; boundary=other'), /names a wrong boundary/)
})
