import type { LogSealed } from '../../../schemas/seal-events.ts'
import { sealName } from '../../services/seals/seal-name.ts'
import type { Report } from '../fault.ts'
import { hasName, isForgeable, isOldName, type KeptSeal } from '../seals/kept-seal.ts'
import type { AuditedEvent } from './rule.ts'

/**
 * The log holds each seal that was kept elsewhere. The first that it does not hold is reported, and the first of those
 * that may be forged as a note.
 */
export class KeptSeals {
  /** Whether the log does not hold a seal that may be forged. */
  isInDoubt = false
  /** Each seal by the names under which it was kept. */
  readonly #kept = new Map<number, Map<string, KeptSeal>>()
  #isReported = false

  constructor(seals: readonly KeptSeal[]) {
    for (const seal of seals)
      this.#kept.set(seal.number, (this.#kept.get(seal.number) ?? new Map()).set(seal.name, seal))
  }

  /** Takes the next event of the stream of seals, as it was read if that was possible. */
  take(number: number, event: AuditedEvent | undefined, report: Report) {
    const kept = this.#kept.get(number)
    if (!kept) return
    this.#kept.delete(number)
    const seal = event?.type === 'LogSealed' && {
      ...{ number, name: sealName(event.data as LogSealed), link: event.metadata.hash },
    }
    const others = [...kept.values()].filter(({ name }) => !seal || !hasName(seal, name))
    this.#report(others, 'it is not', report, seal ? seal.name : undefined)
  }

  end(report: Report) {
    const lost = [...this.#kept.values()].flatMap(names => [...names.values()])
    lost.sort((one, next) => one.number - next.number)
    this.#report(lost, 'the log does not hold', report)
  }

  /** Reports seals that were kept, given the name of the one that the log has in place of them, if it has one. */
  #report(seals: KeptSeal[], fault: string, report: Report, found?: string) {
    const missed = seals.find(seal => !isForgeable(seal))
    if (missed && !this.#isReported) {
      this.#isReported = true
      // Only the owner of its key can make a whole seal. The digest in a name may be of anything.
      const condition = missed.signer ? ', so that' : ': if that name is genuine,'
      report(`${fault} seal ${missed.name}, which was kept${condition} the log was cut or rewritten since`)
    }
    const doubtful = seals.find(isForgeable)
    if (doubtful && !this.isInDoubt) {
      this.isInDoubt = true
      const { name } = doubtful
      const isOther = found !== undefined && isOldName(name)
      const what = isOther ? 'its link is not that of' : fault
      report(`${what} seal ${name}, which was kept; ${doubt(doubtful, found)}`, true)
    }
  }
}

const doubt = ({ name, signer }: KeptSeal, found: string | undefined): string =>
  isOldName(name)
    ? [
        'no signature covers such an old name, so it may be forged, and this does not show that the log was changed:',
        'if you kept the whole seal or a proof,',
        found === undefined ? 'give its name instead' : `compare its name with ${found}`,
      ].join(' ')
    : [
        `${signer?.place} says that the key ${signer?.keyId} has signed it, which this log did not adopt;`,
        'the line may be forged, or the log was sealed anew with another key: compare the keys with one that you kept',
      ].join(' ')
