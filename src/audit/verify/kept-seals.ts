import type { LogSealed } from '../../../schemas/seal-events.ts'
import { sealName } from '../../services/seals/seal-name.ts'
import type { Report } from '../fault.ts'
import { hasName, isOldName, type KeptSeal } from '../seals/kept-seal.ts'
import type { AuditedEvent } from './rule.ts'

/** The log holds each seal that was kept elsewhere. The first that it does not hold is reported. */
export class KeptSeals {
  /** Whether the log does not confirm an old name, which may be forged. */
  isInDoubt = false
  /** The names under which each seal was kept. */
  readonly #names = new Map<number, Set<string>>()
  #isReported = false

  constructor(seals: readonly KeptSeal[]) {
    for (const { number, name } of seals) this.#names.set(number, (this.#names.get(number) ?? new Set()).add(name))
  }

  /** Takes the next event of the stream of seals, as it was read if that was possible. */
  take(number: number, event: AuditedEvent | undefined, report: Report) {
    const names = this.#names.get(number)
    if (!names) return
    this.#names.delete(number)
    const seal = event?.type === 'LogSealed' && {
      ...{ number, name: sealName(event.data as LogSealed), link: event.metadata.hash },
    }
    const others = [...names].filter(name => !seal || !hasName(seal, name))
    const other = others.find(name => !seal || !isOldName(name))
    if (other !== undefined && !this.#isReported) {
      this.#isReported = true
      report(`it is not seal ${other}, which was kept, so that the log was rewritten since`)
    }
    const old = seal ? others.find(isOldName) : undefined
    if (seal && old !== undefined && !this.isInDoubt) {
      this.isInDoubt = true
      report(doubt(old, seal.name), true)
    }
  }

  end(report: Report) {
    const [first] = [...this.#names.keys()].sort((one, next) => one - next)
    if (first !== undefined && !this.#isReported) report(`the log does not hold seal ${first}, which was kept`)
  }
}

const doubt = (old: string, name: string): string =>
  [
    `its link is not that of seal ${old}, which was kept; no signature covers such an old name, so it may be forged,`,
    'and this does not show that the log was changed: if you kept the whole seal or a proof, compare its name',
    `with ${name}`,
  ].join(' ')
