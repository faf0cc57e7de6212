import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import t from 'tap'
import { readEvent } from '#verify'
import type { ConsistencyProof, InclusionProof, ProvenLeaf, ProvenSeal, StatementProof } from '../../schemas/proof.ts'
import { proveInclusion } from '../../src/audit/proofs/inclusion.ts'
import { proveStatement } from '../../src/audit/proofs/statement.ts'
import { checkers, needsPython, python } from '../support/checkers.ts'
import { type LinkedEvent, makeLink } from '../support/links.ts'
import {
  costlyAccount,
  encryptedAccount,
  forgedText,
  vectorAccount,
  vectorKey,
  vectorLog,
  vectorProofs,
} from '../support/proof-vectors.ts'

// The owner of the log lies: the events are wrong, and yet linked, sealed and signed; or the proof is of something else.

const keys = JSON.stringify(vectorKey.publicKey)

const outcomesOf = async (proof: unknown) => {
  const text = [Buffer.from(JSON.stringify(proof))]
  return (await Promise.all(Object.values(checkers).map(check => check(text, keys)))).map(([outcome]) => outcome)
}

interface Receipt {
  catalogRevision: number
  endpoint: string
  lines: Record<string, unknown>[]
  totalMicros: number
}

const ofType = (type: string, change: (data: Record<string, unknown>) => object) => (event: LinkedEvent) =>
  event.type === type && event.stream === `account-${vectorAccount}`
    ? { ...event, data: { ...(event.data as object), ...change(event.data as Record<string, unknown>) } }
    : event

const inReceipt = (change: (receipt: Receipt) => Partial<Receipt>) =>
  ofType('CreditsDebited', ({ receipt }) => ({ receipt: { ...(receipt as Receipt), ...change(receipt as Receipt) } }))

const inLine = (index: number, change: object) =>
  inReceipt(({ lines }) => ({ lines: lines.with(index, { ...lines[index], ...change }) }))

/** What verify.py says, where verify.mjs names the line of the receipt. */
const SUMS = 'event 2: its receipt does not add up'
const NOT_READABLE = 'an event is not in the documented form'
const LIST = 'event 2: its receipt is not what the price list gives'

/** A lie, what verify.mjs says of it, and what verify.py says if that is less. */
const events: [string, (event: LinkedEvent) => LinkedEvent, fault: string, short?: string][] = [
  [
    'a balance',
    ofType('CreditsRefunded', () => ({ balanceAfterMicros: 90_000_000 })),
    'the balance after event 5 is 90000000, and 83500000 + 16500000 is not',
  ],
  [
    'an amount that is no number',
    ofType('CreditsGranted', () => ({ amountMicros: '100000000' })),
    'event 1 is not in the documented form',
  ],
  [
    'another account',
    ofType('AccountOpened', () => ({ accountId: 'acct_0' })),
    'the first event opens another account',
  ],
  [
    'an account in a list',
    ofType('AccountOpened', ({ accountId }) => ({ accountId: [accountId] })),
    'the first event opens another account',
  ],
  ['another price', inReceipt(() => ({ totalMicros: 1 })), 'event 2 debits another amount than its receipt'],
  [
    'a receipt that does not add up',
    inLine(2, { factorMicros: 2_000_000 }),
    'event 2: its price is 16500000, and its receipt adds up to 21500000',
    SUMS,
  ],
  [
    'a surcharge at another rate',
    inLine(3, { usdPerCreditMicros: 5000 }),
    'event 2: its surcharge for enable_web_search is 1500000, not 3000000',
    SUMS,
  ],
  [
    'no receipt',
    inReceipt(() => ({ lines: [] })),
    'event 2: its receipt does not have exactly one base price',
    NOT_READABLE,
  ],
  [
    'a quantity that was not asked for',
    ofType('RunQueued', ({ input }) => ({ input: { ...(input as object), num_images: 2 } })),
    'event 2: its receipt has the line "quantity num_images 1", which the price list does not give',
    LIST,
  ],
  [
    'a line for nothing',
    ofType('RunQueued', ({ input }) => ({ input: { ...(input as object), enable_web_search: false } })),
    'event 2: its receipt has the line "surcharge enable_web_search false 15000", which the price list does not give',
    LIST,
  ],
  ['a base price of a parameter in a list, which nobody reads', inLine(0, { parameter: [] }), 'right'],
  [
    'a surcharge for another value',
    inLine(3, { equals: false }),
    'event 2: its receipt has the line "surcharge enable_web_search false 15000", which the price list does not give',
    LIST,
  ],
  [
    'a surcharge for a value of another type',
    inLine(3, { equals: 'true' }),
    'event 2: its receipt has the line "surcharge enable_web_search "true" 15000", which the price list does not give',
    LIST,
  ],
  [
    'an unknown endpoint',
    ofType('RunQueued', () => ({ endpoint: 'nano-banana-2-i2i' })),
    'event 3 runs another model than the receipt before it',
  ],
  [
    'an endpoint that is true, and 1 in the receipt',
    event => inReceipt(() => ({ endpoint: 1 as never }))(ofType('RunQueued', () => ({ endpoint: true }))(event)),
    'event 3 runs another model than the receipt before it',
  ],
  [
    'the run of another debit',
    ofType('RunQueued', () => ({ runId: 'run_0' })),
    'event 3 is not the run of the debit before it',
  ],
]

type Counted = Record<string, unknown> & { receipt: Receipt; usage: Record<string, number> }

/** Changes an event of the run whose tokens have a price. */
const ofTokens = (type: string, change: (data: Counted) => object) => (event: LinkedEvent) =>
  event.type === type && event.stream === `account-${costlyAccount}` && event.revision >= 5
    ? { ...event, data: { ...(event.data as Counted), ...change(event.data as Counted) } }
    : event

const inReserve = (index: number, change: object) =>
  ofTokens('CreditsDebited', ({ receipt }) => ({
    receipt: { ...receipt, lines: receipt.lines.with(index, { ...receipt.lines[index], ...change }) },
  }))

const inSettled = (change: (receipt: Receipt) => object) =>
  ofTokens('CreditsReleased', ({ receipt }) => ({ receipt: { ...receipt, ...change(receipt) } }))

const inInput = (change: object) =>
  ofTokens('RunStarted', ({ input }) => ({ input: { ...(input as object), ...change } }))

const [USED, GIVEN] = ['event 8 used other tokens than its run has paid for', 'which the price list does not give']
const LISTED = 'event 5: its receipt is not what the price list gives'

/** Lies about the price of tokens, like those above. */
const tokens: [string, (event: LinkedEvent) => LinkedEvent, fault: string, short?: string][] = [
  ['nothing', event => event, 'right'],
  ['the seed that was drawn later', inInput({ seed: 2_000_000_000 }), 'right'],
  [
    'a longer answer than was priced',
    inInput({ max_output_tokens: 2048 }),
    `event 5: its receipt has the line "tokens output 1024 360000000", ${GIVEN}`,
    LISTED,
  ],
  [
    'a base price of nothing',
    ofTokens('CreditsDebited', ({ receipt }) => ({
      receipt: { ...receipt, lines: [{ kind: 'base', amountMicros: 0 }, ...receipt.lines] },
    })),
    `event 5: its receipt has the line "base 0", ${GIVEN}`,
    LISTED,
  ],
  [
    'two base prices',
    ofTokens('CreditsDebited', ({ receipt }) => ({
      receipt: { ...receipt, lines: [...receipt.lines, { kind: 'base', amountMicros: 0 }] },
    })),
    'event 5: its receipt does not have exactly one base price',
    'event 5: its receipt does not add up',
  ],
  [
    'a debit of more than its tokens',
    inReserve(0, { count: 327 }),
    'event 5: its price is 388201, and its receipt adds up to 388261',
    'event 5: its receipt does not add up',
  ],
  [
    'a release of another amount',
    event => ofTokens('CreditsReleased', () => ({ amountMicros: 286_847, balanceAfterMicros: 23_398_646 }))(event),
    'event 7 releases another amount than its receipt leaves of the debit',
  ],
  [
    'a release with another balance',
    ofTokens('CreditsReleased', () => ({ balanceAfterMicros: 1 })),
    'the balance after event 7 is 1, and 23111799 + 286848 is not',
  ],
  [
    'a final price that does not add up',
    inSettled(() => ({ totalMicros: 101_354 })),
    'event 7: its price is 101354, and its receipt adds up to 101353',
    'event 7: its receipt does not add up',
  ],
  [
    'a final price at another rate',
    inSettled(({ lines }) => ({ lines: lines.with(1, { ...lines[1], perMillionMicros: 6_000_001 }) })),
    'event 7: its receipt has other lines or rates than that of its debit',
  ],
  [
    'a final price of another endpoint',
    inSettled(() => ({ endpoint: 'gemini-3-flash-i2t' })),
    'event 7: its receipt has other lines or rates than that of its debit',
  ],
  [
    'fewer tokens than were paid for',
    ofTokens('RunCompleted', ({ usage }) => ({ usage: { ...usage, output: 1 } })),
    USED,
  ],
  [
    'tokens that the service counted',
    ofTokens('RunCompleted', ({ usage }) => ({ usage: { ...usage, counted: true } })),
    USED,
  ],
  ['no tokens', ofTokens('RunCompleted', () => ({ usage: undefined })), 'event 8 does not tell the tokens of its run'],
  [
    'a release of another run',
    ofTokens('RunCompleted', () => ({ runId: 'run_0' })),
    'event 8 is not the end of the run of the release before it',
  ],
  [
    'a refund in place of the release',
    event => {
      const released = ofTokens('CreditsReleased', ({ receipt: _, ...data }) => ({ ...data, reason: 'x' }))(event)
      return released === event ? event : { ...released, type: 'CreditsRefunded' }
    },
    USED,
  ],
]

t.test('each checker finds what is wrong with a price of tokens', needsPython, async t => {
  for (const [name, change, fault, short = fault] of tokens) {
    const proof = await proveStatement(await vectorLog(change), costlyAccount)
    t.same(await outcomesOf(proof), [fault, short], name)
  }
})

t.test('a release whose debit is not in the statement has a price of its own', needsPython, async t => {
  const from = { number: 5 }
  t.same(await outcomesOf(await proveStatement(await vectorLog(), costlyAccount, { from })), ['right', 'right'])
  const lie = inSettled(() => ({ totalMicros: 1 }))
  t.same(await outcomesOf(await proveStatement(await vectorLog(lie), costlyAccount, { from })), [
    'event 7: its price is 1, and its receipt adds up to 101353',
    'event 7: its receipt does not add up',
  ])
})

t.test('each checker finds what is wrong in a log that is linked and sealed', needsPython, async t => {
  for (const [name, change, fault, short = fault] of events) {
    const proof = await proveStatement(await vectorLog(change), vectorAccount, { to: { number: 2 } })
    t.same(await outcomesOf(proof), [fault, short], name)
  }
})

t.test('each checker holds a run that starts at once to its debit', needsPython, async t => {
  const start = (change: (data: Record<string, unknown>) => object) => (event: LinkedEvent) =>
    event.type === 'RunStarted' ? { ...event, data: change(event.data as Record<string, unknown>) } : event
  const other = 'event 3 runs another model than the receipt before it'
  const lies: [string, (event: LinkedEvent) => LinkedEvent, fault: string, short?: string][] = [
    ['no lie', event => event, 'right'],
    ['another run', start(data => ({ ...data, runId: 'run_0' })), 'event 3 is not the run of the debit before it'],
    ['a mere start', start(({ runId, upstream }) => ({ runId, upstream })), other, NOT_READABLE],
    ['another model', start(data => ({ ...data, model: 'other' })), other],
    [
      'another input',
      start(data => ({ ...data, input: { resolution: '1K', enable_web_search: true } })),
      'event 2: its receipt has the line "multiplier resolution 2K 1500000", which the price list does not give',
      LIST,
    ],
  ]
  for (const [name, change, fault, short = fault] of lies)
    t.same(await outcomesOf(await proveStatement(await vectorLog(change), costlyAccount)), [fault, short], name)
})

t.test('each checker compares the receipt of an encrypted run with the price list', needsPython, async t => {
  const ofRun = (type: string, change: (data: Record<string, unknown>) => object) => (event: LinkedEvent) =>
    event.type === type && event.stream === `account-${encryptedAccount}`
      ? { ...event, data: change(event.data as Record<string, unknown>) }
      : event
  const withLines = (change: (lines: object[]) => object[], totalMicros: number) =>
    ofRun('CreditsDebited', ({ receipt, amountMicros: _, balanceAfterMicros: __, ...data }) => ({
      ...{ ...data, amountMicros: totalMicros, balanceAfterMicros: 40_000_000 - totalMicros },
      receipt: { ...(receipt as Receipt), lines: change((receipt as Receipt).lines), totalMicros },
    }))
  const change = (index: number, line: object, totalMicros: number) =>
    withLines(lines => lines.map((each, at) => (at === index ? { ...each, ...line } : each)), totalMicros)
  const lies: [string, (event: LinkedEvent) => LinkedEvent, fault: string, short?: string][] = [
    ['no lie', event => event, 'right'],
    ['another value, which nobody else can know', change(1, { value: 1 }, 16_500_000), 'right'],
    ['no quantity, as if none was asked for', withLines(lines => lines.toSpliced(1, 1), 16_500_000), 'right'],
    [
      'another factor',
      change(2, { factorMicros: 1_400_000 }, 29_500_000),
      'event 2: its receipt has the line "multiplier resolution 2K 1400000", which the price list does not give',
      LIST,
    ],
    [
      'a value that is not listed',
      change(2, { value: '8K' }, 31_500_000),
      'event 2: its receipt has the line "multiplier resolution 8K 1500000", which the price list does not give',
      LIST,
    ],
    [
      'a quantity that is not listed',
      change(1, { parameter: 'seed' }, 31_500_000),
      'event 2: its receipt has the line "quantity seed 2", which the price list does not give',
      LIST,
    ],
    [
      'a surcharge for another value',
      change(3, { equals: false }, 31_500_000),
      'event 2: its receipt has the line "surcharge enable_web_search false 15000", which the price list does not give',
      LIST,
    ],
    [
      'an input in the clear, and empty',
      ofRun('RunStarted', ({ personal: _, ...data }) => data),
      'event 2: its receipt has the line "quantity num_images 2", which the price list does not give',
      LIST,
    ],
  ]
  for (const [name, change, fault, short = fault] of lies)
    t.same(await outcomesOf(await proveStatement(await vectorLog(change), encryptedAccount)), [fault, short], name)
})

t.test('each checker refuses a sealed debit that does not tell its amounts and run', needsPython, async t => {
  for (const [name, change, outcome] of [
    ['a text as the amount', { amountMicros: '16500000' }, 'event 2 is not in the documented form'],
    ['no balance', { balanceAfterMicros: null }, 'event 2 is not in the documented form'],
    ['a negative balance', { balanceAfterMicros: -1 }, 'event 2 is not in the documented form'],
    ['a run that would clear a terminal', { runId: '\u001b[2J' }, 'event 2 is not in the documented form'],
    ['no run', { runId: null }, 'event 2 is not in the documented form'],
    ['an empty run', { runId: '' }, 'event 2 is not in the documented form'],
    ['an empty model', { debit: { model: '' } }, 'event 2 is not in the documented form'],
    ['no model', { debit: { model: null } }, 'event 2 is not in the documented form'],
    ['a model in a debit, before its receipt', { debit: { model: 'x' }, receipt: { model: '' } }, 'right'],
    ['an amount in a list', { amountMicros: [16500000] }, 'event 2 is not in the documented form'],
    ['a model that would', { receipt: { model: '\u001b[2J' } }, 'event 2 is not in the documented form'],
  ] as const) {
    const log = await vectorLog(ofType('CreditsDebited', () => change))
    const debit = await log.readEvent(`account-${vectorAccount}`, 2)
    const proof = await proveInclusion(log, { eventId: debit?.id as string }, { at: { number: 2 } })
    t.same(await outcomesOf(proof), [outcome, outcome], name)
  }
})

t.test(
  'each checker refuses half of a character, whatever its language writes in place of it',
  needsPython,
  async t => {
    const refusal = 'it is no tollgate-proof of version 1 in the documented form'
    for (const [hashed, shown, outcome] of [
      ['?', '?', 'right'],
      ['?', '\ud800', refusal],
      ['\ufffd', '\ufffd', 'right'],
      ['\ufffd', '\udfff', refusal],
      ['😀', '😀', 'right'],
    ] as const)
      t.same(await outcomesOf(await forgedText(hashed, shown)), [outcome, outcome], JSON.stringify(shown))
    // No checker reads the metadata of format 2, whose digest alone counts.
    const log = await vectorLog(event =>
      event.type === 'CreditsWithdrawn'
        ? { ...event, metadata: { ...(event.metadata as object), requestId: '\ufffd' } }
        : event,
    )
    const withdrawn = await log.readEvent(`account-${vectorAccount}`, 6)
    const { event, ...proof } = await proveInclusion(log, { eventId: withdrawn?.id as string })
    const metadataText = event.metadataText?.replace('\ufffd', '\ud800')
    t.match(metadataText, '\ud800')
    t.same(await outcomesOf({ ...proof, event: { ...event, metadataText } }), [refusal, refusal], 'metadata')
  },
)

t.test('each checker notices what a proof leaves out or swaps', needsPython, async t => {
  const proofs = await vectorProofs()
  const [inclusion, consistency] = [proofs['inclusion'] as InclusionProof, proofs['consistency'] as ConsistencyProof]
  const [whole, part] = [proofs['statement'] as StatementProof, proofs['statement-part'] as StatementProof]
  const start = { revision: 1, previous: whole.start.previous, tree: [whole.start.previous] }
  const { catalog: _, ...withoutCatalog } = whole
  const { from: __, ...withoutFrom } = part
  const lies: [string, object, string, short?: string][] = [
    [
      'the last event',
      { ...whole, events: whole.events.slice(0, -1) },
      'the events are not those that the seal covers',
    ],
    ['an event', { ...whole, events: whole.events.toSpliced(3, 1) }, 'the events are not those that the seal covers'],
    ['the first event', { ...whole, start, events: whole.events.slice(1) }, 'the statement begins at the wrong event'],
    ['the earlier seal', withoutFrom, 'the statement begins at the wrong event'],
    [
      'the catalog',
      withoutCatalog,
      'event 2: its receipt names catalog revision 0, which publishes no prices',
      'event 2: its receipt names no price of the catalog',
    ],
    ['the order', { ...part, from: part.to, to: part.from }, 'the seals are in the wrong order'],
    [
      'the leaf',
      { ...whole, to: { ...whole.to, leaf: part.from?.leaf } },
      `seal 2 does not cover account-${vectorAccount} as its leaf says`,
    ],
    ['a later seal', { ...consistency, later: consistency.earlier }, 'the seals are in the wrong order'],
    ['the path', { ...consistency, inclusion: [] }, 'seal 3 does not cover seal 1'],
    ['the other path', { ...consistency, consistency: [] }, 'seal 3 does not extend what came before seal 1'],
    [
      'the place',
      { ...inclusion, event: { ...inclusion.event, revision: 3 } },
      `event 3 is not in the tree of account-${vectorAccount}`,
    ],
    ['a version', { ...inclusion, version: 2 }, 'it is no tollgate-proof of version 1 in the documented form'],
    ['a member', { ...inclusion, note: '' }, 'it is no tollgate-proof of version 1 in the documented form'],
    ['everything', [], 'it is no tollgate-proof of version 1 in the documented form'],
  ]
  for (const [name, proof, fault, short = fault] of lies) t.same(await outcomesOf(proof), [fault, short], name)
})

t.test('each checker refuses a path whose bits do not fall, though it leads to the root', needsPython, async t => {
  const proof = (await vectorProofs())['inclusion'] as InclusionProof
  const refusal = `seal 3 does not cover account-${vectorAccount} as its leaf says`
  for (const [bits, outcome] of [
    [[4, 0], 'right'],
    [[4, 4], refusal],
    [[0, 4], refusal],
  ] as const) {
    const leaf = { ...proof.leaf, path: bits.map(bit => ({ bit, sibling: '0'.repeat(64) })) }
    const outcomes = await outcomesOf({ ...proof, leaf, seal: sealWith({ root: rootOver(leaf) }, proof.seal) })
    t.same(outcomes, [outcome, outcome], bits.join())
  }
})

/** The root to which the path of a leaf leads, wherever its branches stand. */
const rootOver = ({ path, ...leaf }: ProvenLeaf): string => {
  const key = createHash('sha256').update(leaf.stream).digest()
  const bitOf = (bit: number) => ((key[bit >> 3] as number) >> (7 - (bit & 7))) & 1
  let hash = createHash('sha256')
    .update(`\0${canonicalize(leaf)}`)
    .digest('hex')
  for (const { bit, sibling } of path) {
    const prefix = Buffer.alloc(32)
    for (let index = 0; index < bit; index++) if (bitOf(index)) (prefix[index >> 3] as number) |= 128 >> (index & 7)
    const children = bitOf(bit) === 0 ? hash + sibling : sibling + hash
    hash = createHash('sha256').update(Buffer.of(1, bit)).update(prefix).update(children, 'hex').digest('hex')
  }
  return hash
}

/** A seal with other data, signed and linked again. */
const sealWith = (change: object, { previous, dataText, metadataText, linkText }: ProvenSeal): ProvenSeal => {
  const { signature: _, ...before } = JSON.parse(dataText)
  const data = { ...before, ...change }
  const event = { ...JSON.parse(linkText), data: { ...data, signature: vectorKey.sign(data) } }
  const {
    dataDigest: __,
    metadataDigest: ___,
    ...texts
  } = makeLink(previous, {
    ...event,
    metadata: JSON.parse(metadataText),
  })
  return texts as ProvenSeal
}

t.test(
  'each checker refuses a document that could be read in two ways, and no other way to write it',
  needsPython,
  async t => {
    const proofs = await vectorProofs()
    const [text, statement] = ['inclusion', 'statement'].map(name => JSON.stringify(proofs[name])) as [string, string]
    const refusal = 'it is no tollgate-proof of version 1 in the documented form'
    const written: [string, string][] = [
      [text, 'right'],
      [JSON.stringify(JSON.parse(text), null, 2), 'right'],
      [text.replace('"revision":2', '"revision":2.0'), 'right'],
      [text.replace('"version":1', '"version":10e-1'), 'right'],
      [text.replace('"version":1', '"version":1.5'), refusal],
      [text.replace('"version":1', '"version":true'), refusal],
      [text.replace('"version":1', '"version":"1"'), refusal],
      [statement.replace('"start":{"revision":0', '"start":{"revision":0.0'), 'right'],
      [statement.replace('"start":{"revision":0', '"start":{"revision":false'), refusal],
      [text.replace('"version":1', '"version":1e400'), refusal],
      [text.replace('"kind":', '"kind":"statement","kind":'), refusal],
      [text.replace('"revision":2', '"revision":9,"revision" :2'), refusal],
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, refusal],
      ['', refusal],
    ]
    for (const [name, check] of Object.entries(checkers)) {
      const outcomes = await check(
        written.map(([text]) => Buffer.from(text)),
        keys,
      )
      t.same(
        outcomes,
        written.map(([, outcome]) => outcome),
        name,
      )
    }
  },
)

t.test('each checker refuses an event whose text is not canonical, whatever it adds up to', needsPython, async t => {
  const wrong = ['-0', '-0.0', '-0e5', '[-0,1e3]', '{"b":[-0]}', '-1e-400', '1e7', '1.0', '1e400', 'NaN', ' 1']
  const ambiguous = ['[1e20,{"b":1,"b":2}]', '{"c":1,"b":2}', '"\\/"', '"\\u0041"', '"\\ud800"', '{"\\ud800":1}']
  const numbers = [
    '0',
    '-1',
    '-0.5',
    '0.000001',
    '1e-7',
    '1.5e-10',
    '1e+21',
    '100000000000000000000',
    '123.456',
    '5e-324',
  ]
  const others = [
    '"\\u001f\\n\u007f\u2028😀"',
    '{"\u20ac":1,"😀":2,"\ufb33":3}',
    '{"10":1,"9":2,"__proto__":3}',
    '[true,null,[]]',
  ]
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const named = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  // Two objects are around each.
  const deep = [99, 900, 3000, 100_000].flatMap(levels => [nested(levels), named(levels)])
  const bad = [...wrong, ...ambiguous, ...deep]
  const good = [...numbers, ...others, nested(98), named(98)]
  const texts = [...bad, ...good].map(value => `{"data":{"a":${value}},"metadata":{},"type":"Happened"}`)
  const expected = [...bad.map(() => 'event 7 is not in the documented form'), ...good.map(() => 'right')]
  const read = texts.map(linkText => {
    try {
      return readEvent({ linkText }, 'account-1', 7) && 'right'
    } catch (error) {
      return (error as Error).message
    }
  })
  t.same(read, expected)
  t.same(await python(READ_IN_PYTHON, { texts }), expected)
})

const READ_IN_PYTHON = `
def read(text):
    try:
        verify.read_event({"linkText": text}, "account-1", 7)
        return "right"
    except verify.Wrong as wrong:
        return str(wrong)
found = [read(text) for text in given["texts"]]`
