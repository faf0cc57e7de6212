import { type Static, Type } from 'typebox'
import { Closed, Sha256, Tagged } from './primitives.ts'

// The documents of `docs/ledger-format.md`, "Proofs". Customers check them without the log.

/** Trees have fewer entries than this, so that all numbers of a proof are exact in every language. */
export const MAX_TREE_SIZE = 2 ** 31

const Revision = Type.Integer({ minimum: 0, maximum: MAX_TREE_SIZE - 2 })

const Path = Type.Array(Sha256, { description: 'The other child at each node, from the entry up.' })

const texts = {
  linkText: Type.String({ description: "The text of the event's link." }),
  dataText: Type.Optional(
    Type.String({
      description:
        "Since format 2: the canonical JSON of the event's data, with the digest of what a provider charges the " +
        'operator as cost. Absent where the event holds nothing else.',
    }),
  ),
  metadataText: Type.Optional(
    Type.String({ description: "Since format 2: the canonical JSON of the event's metadata without its hash." }),
  ),
}

/** The texts of an event's link, exactly as they are hashed. */
export const EventTexts = Closed(texts)
export type EventTexts = Static<typeof EventTexts>

/** An event, and its place in the tree over its stream's links. */
export const ProvenEvent = Closed({ revision: Revision, previous: Sha256, ...texts, path: Path })
export type ProvenEvent = Static<typeof ProvenEvent>

/** A stream under a seal, and its place in the tree over all streams. */
export const ProvenLeaf = Closed({
  stream: Type.String({ pattern: '^[a-z]+(-[a-z0-9_]+)?$' }),
  revision: Revision,
  head: Sha256,
  links: Sha256,
  path: Type.Array(Closed({ bit: Type.Integer({ minimum: 0, maximum: 255 }), sibling: Sha256 })),
})
export type ProvenLeaf = Static<typeof ProvenLeaf>

/** The event of a seal. Its own signature covers neither its link nor `linkText`. */
export const ProvenSeal = Closed({
  previous: Sha256,
  linkText: Type.String(),
  dataText: Type.String(),
  metadataText: Type.String(),
  link: Sha256,
})
export type ProvenSeal = Static<typeof ProvenSeal>

const head = <const Kind extends string>(kind: Kind) => ({
  format: Type.Literal('tollgate-proof'),
  version: Type.Literal(1),
  kind: Type.Literal(kind),
})

export const InclusionProof = Closed({ ...head('inclusion'), event: ProvenEvent, leaf: ProvenLeaf, seal: ProvenSeal })
export type InclusionProof = Static<typeof InclusionProof>

export const ConsistencyProof = Closed({
  ...head('consistency'),
  earlier: ProvenSeal,
  later: ProvenSeal,
  /** From the link of the earlier seal to the root over the links of all seals before the later seal. */
  inclusion: Path,
  /** From the root over the links before the earlier seal to the same root. */
  consistency: Path,
})
export type ConsistencyProof = Static<typeof ConsistencyProof>

const SealedAccount = Closed({ seal: ProvenSeal, leaf: ProvenLeaf })

export const StatementProof = Closed({
  ...head('statement'),
  /** Absent if the statement starts when the account was opened. */
  from: Type.Optional(SealedAccount),
  to: SealedAccount,
  /** The first event: the last event under `from` that states the balance. */
  start: Closed({
    revision: Revision,
    previous: Sha256,
    /** The complete subtrees over all previous links, largest first. */
    tree: Type.Array(Sha256),
  }),
  events: Type.Array(EventTexts, { minItems: 1 }),
  /** The catalog events that the receipts name, under `to`; absent without receipts. */
  catalog: Type.Optional(Closed({ leaf: ProvenLeaf, events: Type.Array(ProvenEvent) })),
})
export type StatementProof = Static<typeof StatementProof>

export const Proof = Tagged('kind', InclusionProof, ConsistencyProof, StatementProof)
export type Proof = Static<typeof Proof>
