import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

type State = 'granted' | 'stored' | 'sealed' | 'deleting' | 'deleted'

const STEPS: Readonly<Record<string, { from: readonly (State | undefined)[]; to: State }>> = {
  UploadGranted: { from: [undefined], to: 'granted' },
  UploadDeletionRequested: { from: ['granted', 'stored', 'sealed'], to: 'deleting' },
  UploadDeleted: { from: ['granted', 'stored', 'sealed', 'deleting'], to: 'deleted' },
}

/** Uploads go from granted to stored to sealed, and are deleted once. */
export class Uploads implements Rule {
  readonly #states = new Map<unknown, State>()

  take({ type, data }: AuditedEvent, report: Report) {
    const step = type === 'UploadStored' ? storedStep(data['sealed'] === true) : STEPS[type]
    if (!step) return
    const { uploadId } = data
    const state = this.#states.get(uploadId)
    if (!step.from.includes(state)) report(`an upload that is ${state ?? 'unknown'} cannot become ${step.to}`)
    this.#states.set(uploadId, step.to)
  }
}

const storedStep = (isSealed: boolean): { from: State[]; to: State } =>
  isSealed ? { from: ['granted', 'stored'], to: 'sealed' } : { from: ['granted'], to: 'stored' }
