import { type Static, Type } from 'typebox'
import { Closed, Sha256, Tagged } from './primitives.ts'

// The documents of `docs/ledger-format.md`, "Proofs", which customers check without the log.

/** Trees have fewer entries than this, so that every number of a proof is exact in every language. */
export const MAX_TREE_SIZE = 2 ** 31

const Revision = Type.Integer({ minimum: 0, maximum: MAX_TREE_SIZE - 2 })

const Path = Type.Array(Sha256, { description: 'The other child at each node, from the entry up.' })

const texts = {
  linkText: Type.String({ description: "The text of the event's link." }),
  dataText: Type.Optional(
    Type.String({
      description: "Format 2: the canonical JSON of the event's data. Absent for what a provider charges the operator.",
    }),
  ),
  metadataText: Type.Optional(
    Type.String({ description: "Format 2: the canonical JSON of the event's metadata without its hash." }),
  ),
}

/** The texts that the link of an event is made of, exactly as they are hashed. */
export const EventTexts = Closed(texts)
export type EventTexts = Static<typeof EventTexts>

/** An event, and its place in the tree over the links of its stream. */
export const ProvenEvent = Closed({ revision: Revision, previous: Sha256, ...texts, path: Path })
export type ProvenEvent = Static<typeof ProvenEvent>

/** A stream as a seal covers it, and its place in the tree over all streams. */
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
  /** From the link of the earlier seal to the root over the links of all seals before the later one. */
  inclusion: Path,
  /** From the root over what came before the earlier seal to the same root. */
  consistency: Path,
})
export type ConsistencyProof = Static<typeof ConsistencyProof>

const SealedAccount = Closed({ seal: ProvenSeal, leaf: ProvenLeaf })

export const StatementProof = Closed({
  ...head('statement'),
  /** Absent in a statement from the beginning. */
  from: Type.Optional(SealedAccount),
  to: SealedAccount,
  /** The first event: the last one that `from` covers and that tells the balance. */
  start: Closed({
    revision: Revision,
    previous: Sha256,
    /** The complete parts of the tree over all links before it, the largest first. */
    tree: Type.Array(Sha256),
  }),
  events: Type.Array(EventTexts, { minItems: 1 }),
  /** The events of the catalog that the receipts name, as `to` covers them; absent without receipts. */
  catalog: Type.Optional(Closed({ leaf: ProvenLeaf, events: Type.Array(ProvenEvent) })),
})
export type StatementProof = Static<typeof StatementProof>

export const Proof = Tagged('kind', InclusionProof, ConsistencyProof, StatementProof)
export type Proof = Static<typeof Proof>
