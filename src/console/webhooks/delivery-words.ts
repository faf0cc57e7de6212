import type { WebhookDelivery } from '../../../schemas/api/delivery.ts'

/** The state of a delivery in words, with the class of its badge. */
export const stateOf = ({ status, attempts }: WebhookDelivery): { word: string; tone: string } => {
  if (status === 'pending' && attempts.length > 0) return { word: 'Failing', tone: 'bad' }
  return STATES[status]
}

const STATES: Record<WebhookDelivery['status'], { word: string; tone: string }> = {
  waiting: { word: 'When the run ends', tone: '' },
  pending: { word: 'Pending', tone: 'warn' },
  delivered: { word: 'Delivered', tone: 'good' },
  abandoned: { word: 'Abandoned', tone: 'bad' },
}
