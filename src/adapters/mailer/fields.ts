import type { MailMessage } from '../../ports/mailer.ts'

/** The message in the words of the library. An address as an object is never read as a list of several. */
export const fieldsOf = (from: string, { to, subject, text }: MailMessage) => ({
  from,
  to: { name: '', address: to },
  subject,
  text,
  // Programs that answer mail, such as those for absences, answer no such message (RFC 3834).
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
})
