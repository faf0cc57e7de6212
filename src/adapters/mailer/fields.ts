import type { MailMessage, Sender } from '../../ports/mailer.ts'

/** The message for the library. An address in an object is never parsed as a list. */
export const fieldsOf = (from: Sender, { to, subject, text }: MailMessage) => ({
  from,
  to: { name: '', address: to },
  subject,
  text,
  // Programs that answer mail automatically ignore such messages (RFC 3834).
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
})
