import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { checkBrand } from '../../src/boot/check-brand.ts'
import type { Core } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { AWKWARD_NAME, awkwardBrand, HEBREW_NAME } from '../support/brands.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const nameIs = (name: string) => readConfig({ SERVICE_NAME: name }).brand.name

t.test('the name of the service is one line that begins with a letter or number', async t => {
  const names = [
    'Acme',
    '7',
    'हिन्दी चित्र',
    'Ben & Jerry’s',
    'Yahoo!',
    'x'.repeat(40),
    '画'.repeat(40),
    AWKWARD_NAME,
    HEBREW_NAME,
  ]
  for (const name of names) t.equal(nameIs(name), name)
  const controls = ['A\r\nBcc: eve@example.com', 'A\tB', 'A\u2028B', 'A\u202eB', 'A\u200fB', 'A\u0000B', 'A\ud800']
  for (const name of [...controls, ' A', 'A ', '-A', '<A>', 'x'.repeat(41)])
    t.throws(() => nameIs(name), { name: 'ConfigError', message: /^SERVICE_NAME must/ })
})

t.test('mail in the outbox comes from the service by its name, unless a sender is set', async t => {
  t.match(readConfig({ SERVICE_NAME: 'Acme' }).mail, { from: { name: 'Acme', address: 'tollgate@localhost' } })
  t.match(readConfig({ SERVICE_NAME: 'Acme', MAIL_FROM: 'a@example.com' }).mail, { from: 'a@example.com' })
})

t.test('the words of the first page are a text that begins with a heading', async t => {
  const file = join(await temporaryFolder(t), 'words.md')
  const read = async (bytes: string | Uint8Array) => {
    await writeFile(file, bytes)
    return readConfig({ BRAND_TEXT_FILE: file }).brand.text
  }
  t.equal(await read('\ufeff\n# Pictures\n\nFine ones.\n'), '# Pictures\n\nFine ones.')
  t.equal(readConfig({}).brand.text, undefined)
  const faults: [string | Uint8Array, RegExp][] = [
    ['Pictures', /^BRAND_TEXT_FILE must begin with a heading, such as "# /],
    ['## Pictures', /must begin with a heading/],
    ['', /must begin with a heading/],
    [Buffer.from('# Bücher', 'latin1'), /^BRAND_TEXT_FILE is not UTF-8\./],
    [`# ${'x'.repeat(64 * 1024)}`, /^BRAND_TEXT_FILE has more than 64 KB\./],
  ]
  for (const [bytes, message] of faults) await t.rejects(read(bytes), { name: 'ConfigError', message })
  t.throws(() => readConfig({ BRAND_TEXT_FILE: `${file}.txt` }), { message: /^BRAND_TEXT_FILE cannot be read: / })
})

/** The warnings that a start with this brand would log. */
const checked = async (brand: Partial<Core['config']['brand']>, roles = 'api') => {
  const warnings: string[] = []
  const config = readConfig({ ROLES: roles })
  const logger = { warn: (_: object, message: string) => warnings.push(message) }
  await checkBrand({ config: { ...config, brand: { ...config.brand, ...brand } }, logger } as unknown as Core)
  return warnings
}

t.test('a logo that cannot be drawn ends the start', async t => {
  const svg = (text: string) => ({ type: 'image/svg+xml', bytes: Buffer.from(text) })
  t.same(await checked({ logo: awkwardBrand.logo }), [])
  for (const text of ['', 'a logo', '<svg'])
    await t.rejects(checked({ logo: svg(text) }), {
      name: 'ConfigError',
      message: /^BRAND_LOGO_FILE cannot be drawn: /,
    })
  t.same(await checked({ logo: svg('a logo') }, 'projector'), [], 'only pages and statements show it')
})

t.test('a name that statements cannot write needs a logo', async t => {
  t.match(await checked({ name: HEBREW_NAME }), [/show codes for its letters; set BRAND_LOGO_FILE/])
  t.same(await checked({ name: HEBREW_NAME, logo: awkwardBrand.logo }), [])
  for (const name of ['Acme', AWKWARD_NAME, 'Картинки', 'Εικόνες', 'Łódź']) t.same(await checked({ name }), [], name)
})
