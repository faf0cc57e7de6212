import { SEALS_STREAM } from '../../../../schemas/events.ts'
import { MAX_TREE_SIZE, type ProvenLeaf, type ProvenSeal } from '../../../../schemas/proof.ts'
import { isSealed } from '../../seals/merkle.ts'
import { linkOf, readEvent, sha256 } from './event.ts'
import type { Keys } from './keys.ts'
import { isSigned } from './signature.ts'
import { hold } from './wrong.ts'

/** A seal that is signed with a known key. */
export interface CheckedSeal {
  number: number
  /** Its number, and the digest of what its signature covers. */
  name: string
  /** No signature covers it. */
  link: string
  events: number
  at: string
  root: string
  earlier: string
}

/** Throws Wrong if a seal is not signed with one of the keys. */
export const checkSeal = (proven: ProvenSeal, keys: Keys): CheckedSeal => {
  const { at, earlier, events, keyId, number, previous, root, signature } = SEAL.exec(proven.dataText)?.groups ?? {}
  hold(
    at && earlier && events && keyId && number && previous && root && signature,
    'a seal is not in the documented form',
  )
  const signed = proven.dataText.replace(`"signature":"${signature}",`, '')
  const name = `${number}:sha256-${sha256(signed)}`
  const seal = { number: Number(number), name, link: proven.link, events: Number(events), at, root, earlier }
  hold(seal.number < MAX_TREE_SIZE, 'a seal is not in the documented form')
  hold(linkOf(proven.previous, proven) === proven.link, `the link of seal ${number} is not that of its texts`)
  const event = readEvent(proven, SEALS_STREAM, seal.number)
  const isSeal = event.type === 'LogSealed' && previous === proven.previous
  hold(isSeal, `seal ${number} is not in the documented form`)
  const key = keys.get(keyId)
  hold(key, `seal ${number} is signed with the key ${keyId}, which was not given`)
  hold(isSigned(signed, signature, key), `the signature of seal ${number} is wrong`)
  return seal
}

/** Throws Wrong if a seal does not cover a stream as its leaf says. */
export const checkLeaf = ({ path, ...leaf }: ProvenLeaf, { number, root }: CheckedSeal) =>
  hold(isSealed(leaf, path, root), `seal ${number} does not cover ${leaf.stream} as its leaf says`)

const HASH = '[0-9a-f]{64}'
const COUNT = '0|[1-9][0-9]{0,15}'

/** The data of a seal in canonical form, whose strings need no escapes. */
const SEAL = new RegExp(
  '^\\{"at":"(?<at>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z)",' +
    `"earlier":"(?<earlier>${HASH})","events":(?<events>${COUNT}),"keyId":"(?<keyId>[A-Za-z0-9_-]{43})",` +
    `"number":(?<number>${COUNT}),"position":(?:${COUNT}),"previous":"(?<previous>${HASH})",` +
    `"root":"(?<root>${HASH})","signature":"(?<signature>[A-Za-z0-9_-]{86})","streams":(?:${COUNT})\\}$`,
)
