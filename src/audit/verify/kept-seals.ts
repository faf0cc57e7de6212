import type { RawEvent } from '../../../schemas/recorded.ts'
import type { SealPlace } from '../../ports/seal-sink.ts'
import type { Report } from '../fault.ts'

/** The log holds each seal that was kept elsewhere. The first that it does not hold is reported. */
export class KeptSeals {
  /** The links under which each seal was kept. */
  readonly #links = new Map<number, Set<string>>()
  #isReported = false

  constructor(seals: readonly SealPlace[]) {
    for (const { number, link } of seals) this.#links.set(number, (this.#links.get(number) ?? new Set()).add(link))
  }

  /** Takes the next event of the stream of seals. */
  take({ revision, type, metadata }: RawEvent, report: Report) {
    const { hash } = (metadata ?? {}) as { hash?: string }
    const other = [...(this.#links.get(revision) ?? [])].find(link => type !== 'LogSealed' || link !== hash)
    this.#links.delete(revision)
    if (other === undefined || this.#isReported) return
    this.#isReported = true
    report(`it is not seal ${revision}:${other}, which was kept, so that the log was rewritten since`)
  }

  end(report: Report) {
    const [first] = [...this.#links.keys()].sort((one, next) => one - next)
    if (first !== undefined && !this.#isReported) report(`the log does not hold seal ${first}, which was kept`)
  }
}
