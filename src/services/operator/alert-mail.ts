import type { Alert } from '../../../schemas/operator-events.ts'
import type { MailMessage } from '../../ports/mailer.ts'

interface AlertMail {
  to: string
  alert: Alert
  raisedAt: string
  publicUrl: string
}

/** An alert as mail. Lines are short, so that no mail program breaks them. */
export const alertMail = ({ to, alert, raisedAt, publicUrl }: AlertMail): MailMessage => {
  const { subject, lines } = contentOf(alert)
  return { to, subject, text: `${[...lines, '', `Since ${raisedAt}, at ${publicUrl}.`].join('\n')}\n` }
}

const contentOf = (alert: Alert): { subject: string; lines: string[] } => {
  if (alert.kind === 'seal_sink_fails')
    return {
      subject: 'Tollgate cannot copy its seals',
      lines: [
        'The log is still sealed, but this sink gets no copies of the seals:',
        alert.sink,
        '',
        'See the log of the service for the cause. If the sink is damaged, run',
        'tollgate audit verify.',
      ],
    }
  const { provider, account, reason } = alert
  const why = reason === 'unauthorized' ? 'refuses the key' : 'has no credit or quota left'
  return {
    subject: `${provider} ${reason === 'unauthorized' ? 'refuses its key' : 'is out of credit or quota'}`,
    lines: [
      reason === 'unauthorized' ? `${provider} ${why} of this account:` : `This account at ${provider} ${why}:`,
      account,
      '',
      'Runs go to other accounts and providers, or wait. To look at it, run',
      'tollgate providers check.',
    ],
  }
}
