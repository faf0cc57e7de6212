import { Ajv2020 } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { RRegex } from 'rregex'
import t from 'tap'
import { isPortable, patternsIn } from '../../src/services/catalog/schema-fault.ts'
import { post, request } from '../mcp/support.ts'
import { needsPython } from '../support/checkers.ts'
import { runPython } from '../support/python.ts'
import { openAccount, startService } from '../support/service.ts'

const service = await startService(t)
const customer = await openAccount(service, { tester: true })
const published = {
  'the OpenAPI document': (await customer.send('/v1/openapi.json')).body,
  'the models': (await customer.send('/v1/models')).body,
  'the tools': (await post(customer, request('2025-11-25', 'tools/list'))).message,
}

/** Names of many scripts, and what is like a value of the API. */
const names = [
  ...[
    '',
    ' ',
    'a',
    'en',
    'de',
    'é',
    'e\u0301',
    'Müller',
    '山田',
    'می\u200cخواهم',
    'क्\u200dष',
    '👩\u200d💻',
    '🏴\u{e0067}\u{e007f}',
  ],
  ...['a\u0000b', 'a\u0085b', 'a\u00a0b', 'a\u2028b', 'a\u202eb', 'a\u200db', '\u200d', '\ufeff', 'a/b', '..', 'a\\b'],
  ...['١', '१', '７', '²', '1', '-1', '007', '1.5', '1.50000', '12,5', '5f', 'ſ', 'K', 'İ', 'x'.repeat(1001)],
  ...['run_01m7z4hp40enbs019v3tcadvdx', 'run_81m7z4hp40enbs019v3tcadvdx', 'acct_01m7z4hp40enbs019v3tcadvdx'],
  ...['key', 'upl', 'sess', 'aud', 'wht', 'pur'].map(prefix => `${prefix}_01m7z4hp40enbs019v3tcadvdx`),
  ...['8294a5b6-c7d8-4e9f-8a1b-2c3d4e5f6071', '75bade1d404ad40e'.repeat(4), '75bade1d404ad40e'.repeat(2)],
  ...[
    '2026-11-25',
    '2026-11-25T18:00Z',
    '2026-11-23T18:00:00.123Z',
    '٢٠٢٦-١١-٢٥',
    '2026-11',
    '2026-13',
    '25.00',
    'EUR',
    'DE',
  ],
  ...[
    'nano-banana-2',
    'day,model',
    'day,model,key,label',
    'day,day,day,day,day',
    'https://a.b',
    'data:',
    'DATA:',
    '3.1.0',
    'auto',
  ],
  ...[`13:sha256-${'75bade1d404ad40e'.repeat(4)}`, '"key";q=6000;w=60, "account";q=12000;w=60', '"key";r=5988;t=42'],
  ...['wait=30', 'wait=٣', '"1a2b3c"', 'W/"1a"', 'bytes 0-1023/154765', 'bytes */7', 'io.example/tollgate'],
  ...[
    'account-acct_01m7z4hp40enbs019v3tcadvdx',
    'x'.repeat(43),
    'x'.repeat(86),
    '[example]',
    '@1793000000',
    `whsec_${'x'.repeat(43)}`,
  ],
]
const texts = [
  ...new Set([
    ...names,
    ...names.map(name => `${name}\nb`),
    ...names.map(name => `\n${name}`),
    ...names.map(name => `${name}é`),
  ]),
]

const patterns = [...new Set(Object.values(published).flatMap(patternsIn))]

/** Each finds the texts in which a pattern occurs. */
const engines: Record<string, (pattern: string) => (text: string) => boolean> = {
  'ECMA-262 without flags': pattern => {
    const compiled = new RegExp(pattern)
    return text => compiled.test(text)
  },
  AJV: pattern => new Ajv2020().compile({ type: 'string', pattern }),
  RE2: pattern => {
    const compiled = RE2JS.compile(pattern)
    return text => compiled.matcher(text).find()
  },
  "Rust's regex": pattern => {
    const compiled = new RRegex(pattern)
    return text => compiled.isMatch(text)
  },
}

t.test('all that is published has patterns, and each is portable', async t => {
  for (const [what, document] of Object.entries(published)) {
    const found = patternsIn(document)
    t.not(found.length, 0, what)
    for (const pattern of found) t.ok(isPortable(pattern), `${what}: ${pattern}`)
  }
})

/** For each pattern the texts that the service finds it in. */
const taken = new Map(
  patterns.map(pattern => {
    const compiled = new RegExp(pattern, 'u')
    return [pattern, new Set(texts.filter(text => compiled.test(text)))]
  }),
)

/** The texts on which an engine and the service disagree. */
const disputed = (pattern: string, isFound: (text: string, index: number) => boolean | undefined) =>
  texts.filter((text, index) => isFound(text, index) !== taken.get(pattern)?.has(text))

t.test('each pattern takes some of the texts, and refuses others', async t => {
  for (const [pattern, { size }] of taken) t.ok(size > 0 && size < texts.length, pattern)
})

for (const [name, compile] of Object.entries(engines))
  t.test(`${name} reads the patterns as the service does`, async t => {
    for (const pattern of patterns) {
      const isFound = compile(pattern)
      t.same(
        disputed(pattern, text => isFound(text)),
        [],
        pattern,
      )
    }
  })

t.test("Python's re reads the patterns as the service does", needsPython, async t => {
  const found = await runPython<Record<string, boolean[]>>('test/http/patterns.py', { patterns, texts })
  for (const pattern of patterns)
    t.same(
      disputed(pattern, (_, index) => found[pattern]?.[index]),
      [],
      pattern,
    )
})

t.test('a line feed at the end, which $ allows in Python alone, is refused by the service', needsPython, async t => {
  const ended = { patterns: ['^a$'], texts: ['a\n'] }
  t.same(await runPython('test/http/patterns.py', ended), { '^a$': [true] })
  for (const [pattern, found] of taken) {
    const compiled = new RegExp(pattern, 'u')
    if (pattern.endsWith('$'))
      t.notOk(
        [...found].some(text => compiled.test(`${text}\n`)),
        pattern,
      )
  }
})
