import type { WebhookDelivery } from '../../../schemas/api/delivery.ts'
import type { Run } from '../../../schemas/api/run.ts'
import type { PriceStep } from '../../audit/explain/price-steps.ts'
import type { RunEvent } from '../../services/runs/run-history.ts'
import type { RunStep } from '../../services/runs/run-timeline.ts'

/** Everything that the page of a run shows. */
export interface RunFacts {
  /** The run as the API answers it. */
  run: Run
  files: readonly RunFile[]
  /** The name of the family, or its ID if it is no longer on offer. */
  modelName: string
  /** Whether the family is on offer. */
  runsAgain: boolean
  /** Why parameters have values that the request need not have had. */
  marks: Readonly<Record<string, string>>
  steps: readonly RunStep[]
  events: readonly RunEvent[]
  receipt: ShownReceipt | undefined
  /** The key of the request; undefined for a run from the console. */
  key: { name: string; lastFour: string } | undefined
  webhook: WebhookDelivery | undefined
}

export interface RunFile {
  url: string
  mimeType: string
  sizeBytes: number
}

export interface ShownReceipt {
  /** The arithmetic of the price, or of the final price if a part of the debit was released. */
  steps: readonly PriceStep[]
  totalMicros: number
  chargedMicros: number
  releasedMicros: number
  refundedMicros: number
  /** The revision of the price list. */
  catalogRevision: number
  /** The revision of the debit, which a test run has not. */
  debitRevision?: number
  /** The newest seal, if it covers the debit. */
  seal?: number
}

/** Whether a run has not ended. A failure counts as the end once its refund is known. */
export const isOpen = ({ status }: Run): boolean => status === 'queued' || status === 'processing'
