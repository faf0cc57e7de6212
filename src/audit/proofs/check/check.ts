import { type ConsistencyProof, type InclusionProof, Proof, type StatementProof } from '../../../../schemas/proof.ts'
import { compileGuard } from '../../../engine/log/guard.ts'
import { hasName, isOldName, type KeptSeal } from '../../seals/kept-seal.ts'
import { isExtension, isIncluded } from '../../seals/merkle.ts'
import { parseDocument } from './document.ts'
import type { Keys } from './keys.ts'
import { type Move, moveOf } from './move.ts'
import { type CheckedSeal, checkLeaf, checkSeal } from './seal.ts'
import { checkEvent, checkStatement, type Statement } from './statement.ts'
import { hold, Wrong } from './wrong.ts'

/** The facts that a proof shows, given the key that signed its seals. */
export type Shown = { seals: CheckedSeal[] } & (
  | { kind: 'inclusion'; stream: string; revision: number; type: string; move: Move | undefined }
  | { kind: 'consistency' }
  | ({ kind: 'statement' } & Statement)
)

/** Checks a proof without the log. One of its seals must be the one that was kept, if any was. Throws Wrong. */
export const checkProof = (text: string, keys: Keys, kept?: KeptSeal): Shown => {
  const proof = parseDocument(text)
  hold(isProof(proof), 'it is no tollgate-proof of version 1 in the documented form')
  const shown = check(proof, keys)
  if (kept) checkKept(shown.seals, kept)
  return shown
}

/** A proof about another seal shows nothing to the owner of the kept one, who must know how the two belong together. */
const checkKept = (seals: CheckedSeal[], { number, name }: KeptSeal) => {
  const isKnown = seals.some(seal => seal.number === number)
  const hint = `${isOldName(name) ? OLD : ''}${isKnown ? '' : CONSISTENCY}`
  const isKept = seals.some(seal => hasName(seal, name))
  hold(isKept, `it is about seal ${seals.at(-1)?.name}, and not about seal ${name}, which was kept${hint}`)
}

const OLD = '; no signature covers such an old name, so it may be forged'
const CONSISTENCY = '; a proof of consistency from the earlier to the later one shows whether both are of one log'

const isProof = compileGuard(Proof)

/** The owner of the log may have put anything into an event, so reading it may fail anywhere. */
const check = (proof: Proof, keys: Keys): Shown => {
  try {
    if (proof.kind === 'inclusion') return checkInclusion(proof, keys)
    if (proof.kind === 'consistency') return checkConsistency(proof, keys)
    return { kind: 'statement', ...checkStatement(proof as StatementProof, keys) }
  } catch (error) {
    if (error instanceof Wrong) throw error
    throw new Wrong('an event is not in the documented form')
  }
}

const checkInclusion = ({ event, leaf, seal: proven }: InclusionProof, keys: Keys): Shown => {
  const seal = checkSeal(proven, keys)
  checkLeaf(leaf, seal)
  const read = checkEvent(event, leaf)
  const { revision } = event
  const shown = { stream: leaf.stream, revision, type: read.type, move: moveOf(read, revision) }
  return { kind: 'inclusion', seals: [seal], ...shown }
}

const checkConsistency = (proof: ConsistencyProof, keys: Keys): Shown => {
  const [earlier, later] = [checkSeal(proof.earlier, keys), checkSeal(proof.later, keys)]
  hold(earlier.number < later.number && earlier.events <= later.events, 'the seals are in the wrong order')
  const isCovered = isIncluded(earlier.link, earlier.number, later.number, proof.inclusion, later.earlier)
  hold(isCovered, `seal ${later.number} does not cover seal ${earlier.number}`)
  const [before, after] = [earlier, later].map(({ number, earlier }) => ({ size: number, root: earlier })) as [
    { size: number; root: string },
    { size: number; root: string },
  ]
  const isContinued = isExtension(before, after, proof.consistency)
  hold(isContinued, `seal ${later.number} does not extend what came before seal ${earlier.number}`)
  return { kind: 'consistency', seals: [earlier, later] }
}
