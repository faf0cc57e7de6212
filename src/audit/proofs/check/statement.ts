import { accountIn, CATALOG_STREAM } from '../../../../schemas/events.ts'
import type { ProvenEvent, ProvenLeaf, StatementProof } from '../../../../schemas/proof.ts'
import { isIncluded } from '../../seals/merkle.ts'
import { Links } from '../../seals/sealed-streams.ts'
import { SIGNS } from '../../verify/account.ts'
import { firstPrevious, linkOf, type ReadEvent, readEvent } from './event.ts'
import type { Keys } from './keys.ts'
import { type Move, moveOf } from './move.ts'
import { Prices } from './prices.ts'
import { type CheckedSeal, checkLeaf, checkSeal } from './seal.ts'
import { hold } from './wrong.ts'

/** All events of an account that a seal covers, or that it covers and an earlier one does not. */
export interface Statement {
  seals: CheckedSeal[]
  account: string
  events: number
  beforeMicros: number
  afterMicros: number
  /** Those of the events between the two balances. */
  moves: Move[]
  prices: number
}

/** Throws Wrong if the events are not all those of the account, or if something about its credits is not right. */
export const checkStatement = (proof: StatementProof, keys: Keys): Statement => {
  const { from, to, catalog } = proof
  const earlier = from && checkSeal(from.seal, keys)
  const later = checkSeal(to.seal, keys)
  hold(!earlier || earlier.number < later.number, 'the seals are in the wrong order')
  if (from && earlier) checkLeaf(from.leaf, earlier)
  checkLeaf(to.leaf, later)
  const account = accountIn(to.leaf.stream)
  hold(account && (!from || from.leaf.stream === to.leaf.stream), 'the statement is not about one account')
  checkLinks(proof)
  const prices = new Prices()
  if (catalog) {
    checkLeaf(catalog.leaf, later)
    hold(catalog.leaf.stream === CATALOG_STREAM, 'the prices are not those of the catalog')
    for (const event of catalog.events) prices.publish(event.revision, checkEvent(event, catalog.leaf))
  }
  const balances = checkEvents(proof, prices)
  const events = to.leaf.revision - (from?.leaf.revision ?? -1)
  return { seals: [...(earlier ? [earlier] : []), later], account, events, ...balances, prices: prices.count }
}

/** Throws Wrong if an event is not in the tree of its stream. */
export const checkEvent = (event: ProvenEvent, leaf: ProvenLeaf): ReadEvent => {
  const { revision, previous, path, ...texts } = event
  const isInTree = isIncluded(linkOf(previous, texts), revision, leaf.revision + 1, path, leaf.links)
  hold(isInTree, `event ${revision} is not in the tree of ${leaf.stream}`)
  return readEvent(texts, leaf.stream, revision)
}

/** Follows the links and the tree over them, so that the events are known to be all there. */
const checkLinks = ({ from, to, start, events }: StatementProof) => {
  const isWhole = start.revision === 0 || start.revision <= (from?.leaf.revision ?? -1)
  hold(isWhole && isTreeOf(start), 'the statement begins at the wrong event')
  const links = new Links(start.revision, start.tree)
  let previous = start.previous
  for (const texts of events) {
    previous = linkOf(previous, texts)
    links.add(previous)
    if (links.size - 1 === from?.leaf.revision)
      hold(isEnd(from.leaf, links, previous), 'the events are not those that the earlier seal covers')
  }
  hold(isEnd(to.leaf, links, previous), 'the events are not those that the seal covers')
}

/** Follows the balance from event to event, and recomputes each price. */
const checkEvents = ({ from, to, start, events }: StatementProof, prices: Prices) => {
  const { stream } = to.leaf
  let format = 1
  let beforeMicros = 0
  let balanceMicros: number | undefined = start.revision === 0 ? 0 : undefined
  const moves: Move[] = []
  for (const [index, texts] of events.entries()) {
    const revision = start.revision + index
    const event = readEvent(texts, stream, revision)
    hold(event.format >= format, `the format of event ${revision} is lower than that of the event before it`)
    if (revision === 0) checkOpening(event, stream, start.previous)
    format = event.format
    const move = moveOf(event, revision)
    if (move) balanceMicros = balanceAfter(move, balanceMicros)
    hold(balanceMicros !== undefined, 'the statement begins at the wrong event')
    if (move && revision > (from?.leaf.revision ?? -1)) moves.push(move)
    prices.take(revision, event)
    if (revision === from?.leaf.revision) beforeMicros = balanceMicros
  }
  return { beforeMicros, afterMicros: balanceMicros ?? 0, moves }
}

/** A tree has as many complete parts as its size has binary ones. */
const isTreeOf = ({ revision, tree }: StatementProof['start']): boolean =>
  tree.length === [...revision.toString(2)].filter(digit => digit === '1').length

const isEnd = (leaf: ProvenLeaf, links: Links, head: string): boolean =>
  links.size === leaf.revision + 1 && links.root() === leaf.links && head === leaf.head

const checkOpening = ({ type, data, format }: ReadEvent, stream: string, previous: string) => {
  const isFirst = previous === firstPrevious(stream, format)
  hold(isFirst && type === 'AccountOpened', 'the statement begins at the wrong event')
  hold(data['accountId'] === accountIn(stream), 'the first event opens another account')
}

/** The balance after an event. Where it is not known before, the event must tell it. */
const balanceAfter = ({ revision, type, amountMicros, afterMicros }: Move, before: number | undefined): number => {
  const sign = SIGNS[type] as number
  const isRight = before === undefined || before + sign * amountMicros === afterMicros
  const sum = `${before} ${sign < 0 ? '-' : '+'} ${amountMicros}`
  hold(isRight, `the balance after event ${revision} is ${afterMicros}, and ${sum} is not`)
  return afterMicros
}
